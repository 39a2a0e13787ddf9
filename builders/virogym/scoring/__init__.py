"""Scoring predictions against ViroGym's tables: its three tasks, their averages, and the leaderboard's page."""
