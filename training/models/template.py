"""The chat template of models that we make: append-only, so that a prompt is always a prefix."""

from __future__ import annotations

SYSTEM = "<|system|>"
USER = "<|user|>"
ASSISTANT = "<|assistant|>"
END = "<|end|>"
PAD = "<|pad|>"
SPECIAL_TOKENS = (PAD, END, SYSTEM, USER, ASSISTANT)

# The assistant's words and the end that it says itself stand between the generation marks, so
# that `return_assistant_tokens_mask` covers what a policy samples and nothing else.
CHAT_TEMPLATE = (
    "{%- for message in messages -%}"
    "{%- if message['role'] == 'assistant' -%}"
    "{{- '" + ASSISTANT + "' -}}"
    "{%- generation -%}{{- message['content'] + '" + END + "' -}}{%- endgeneration -%}"
    "{%- elif message['role'] == 'system' -%}"
    "{{- '" + SYSTEM + "' + message['content'] + '" + END + "' -}}"
    "{%- elif message['role'] in ['user', 'tool'] -%}"
    "{{- '" + USER + "' + message['content'] + '" + END + "' -}}"
    "{%- else -%}"
    "{{- raise_exception('unknown role ' + message['role']) -}}"
    "{%- endif -%}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{- '" + ASSISTANT + "' -}}{%- endif -%}"
)
