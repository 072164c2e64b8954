"""The API under /api/v1: requests and answers are JSON, refusals are problems of RFC 9457."""
