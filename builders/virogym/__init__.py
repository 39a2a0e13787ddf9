"""ViroGym: deep mutational scans of viral proteins. Read `builder.py` first."""
