"""What a policy acts in: text in, text out, over several turns."""
