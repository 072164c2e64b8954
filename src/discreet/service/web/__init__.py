"""What every request passes: size, headers, rates, log lines, problems; nothing here knows what is asked."""
