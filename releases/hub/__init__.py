"""The Hub: a finished release is published there, checked there and, where it must be, withdrawn.

`publish.publish` puts a release on the Hub, `verify.verify` checks a published one against its manifest and
`withdraw.withdraw` makes the release that leaves rows out. What the Hub will refuse is foretold by `releases.lint`.
"""
