"""Who is asking: passwords, sessions, tokens, one-time links, sign-in by OIDC. Secrets are stored as hashes only."""
