"""What upstream defines: where names lead, what values hold, which classes come before others, and copies."""
