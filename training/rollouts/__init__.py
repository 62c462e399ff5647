"""Playing: a policy's episodes, token by token as they were sampled."""
