"""The chat template of models that we make: append-only, so that a prompt is always a prefix.

    <|system|>SYSTEM PROMPT

    Tools:
    {"type": "function", "function": {…}}<|end|>
    <|user|>QUESTION<|end|>
    <|assistant|><think>REASONING</think>
    ANSWER
    <tool_call>{"name": "f", "arguments": ARGUMENTS AS GIVEN}</tool_call><|end|>
    <|user|><tool_response f>RESULT</tool_response><|end|>

Without the line breaks between turns, and each part only where there is one. What a policy says
besides its end is plain text, calls and reasoning too, so it samples them like any other words.
A call's id is not among it: results follow their calls in order, and nobody could learn it.
"""

from __future__ import annotations

SYSTEM = "<|system|>"
USER = "<|user|>"
ASSISTANT = "<|assistant|>"
END = "<|end|>"
PAD = "<|pad|>"
SPECIAL_TOKENS = (PAD, END, SYSTEM, USER, ASSISTANT)

_TOLD = "messages and messages[0]['role'] == 'system'"
_TOOLS = (
    "{%- if tools -%}"
    "{{- '" + SYSTEM + "' + (messages[0]['content'] + '\\n\\n' if " + _TOLD + " else '') -}}"
    "{{- 'Tools:' -}}"
    "{%- for tool in tools -%}{{- '\\n' + (tool | tojson) -}}{%- endfor -%}"
    "{{- '" + END + "' -}}"
    "{%- endif -%}"
)
_CALLS = (
    "{%- for call in message.get('tool_calls') or [] -%}"
    "{%- set called = call['function'] -%}"
    "{%- if message['content'] or not loop.first -%}{{- '\\n' -}}{%- endif -%}"
    "{{- '<tool_call>{\"name\": ' + (called['name'] | tojson) + ', \"arguments\": ' -}}"
    "{{- called['arguments'] if called['arguments'] is string "
    "else (called['arguments'] | tojson) -}}"
    "{{- '}</tool_call>' -}}"
    "{%- endfor -%}"
)
# The assistant's words and the end that it says itself stand between the generation marks, so
# that `return_assistant_tokens_mask` covers what a policy samples and nothing else.
CHAT_TEMPLATE = (
    _TOOLS + "{%- for message in messages -%}"
    "{%- if message['role'] == 'assistant' -%}"
    "{{- '" + ASSISTANT + "' -}}"
    "{%- generation -%}"
    "{%- if message.get('reasoning_content') -%}"
    "{{- '<think>' + message['reasoning_content'] + '</think>\\n' -}}"
    "{%- endif -%}"
    "{{- message['content'] or '' -}}" + _CALLS + "{{- '" + END + "' -}}"
    "{%- endgeneration -%}"
    "{%- elif message['role'] == 'system' -%}"
    "{%- if not (tools and loop.first) -%}"
    "{{- '" + SYSTEM + "' + message['content'] + '" + END + "' -}}"
    "{%- endif -%}"
    "{%- elif message['role'] == 'user' -%}"
    "{{- '" + USER + "' + (message['name'] + ': ' if message.get('name') else '') -}}"
    "{{- message['content'] + '" + END + "' -}}"
    "{%- elif message['role'] == 'tool' -%}"
    "{{- '" + USER + "<tool_response' + (' ' + message['name'] if message.get('name') else '') -}}"
    "{{- '>' + message['content'] + '</tool_response>" + END + "' -}}"
    "{%- else -%}"
    "{{- raise_exception('unknown role ' + message['role']) -}}"
    "{%- endif -%}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{- '" + ASSISTANT + "' -}}{%- endif -%}"
)
