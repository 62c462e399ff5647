"""Stand-ins for services, each held to the real thing by a contract test."""
