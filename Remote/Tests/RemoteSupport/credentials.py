#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Forwarding authors

"""Makes an operator, an account and users for a server of NATS: what the program nsc does, for tests.

    credentials.py DIRECTORY

Writes DIRECTORY/users.conf, lines of a server's configuration; DIRECTORY/user.creds, the credentials file of a user of the
account; and DIRECTORY/stranger.creds, that of a user whose account the operator does not know. Signs with openssl.
"""

import base64
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

OPERATOR, ACCOUNT, USER, SEED = 14 << 3, 0, 20 << 3, 18 << 3


def checksum(data):
    """CRC-16 with the polynomial 0x1021."""
    value = 0
    for byte in data:
        value ^= byte << 8
        for _ in range(8):
            value = (value << 1) ^ 0x1021 if value & 0x8000 else value << 1
        value &= 0xFFFF
    return value


def encode(data):
    return base64.b32encode(data + checksum(data).to_bytes(2, "little")).decode().rstrip("=")


class Key:
    def __init__(self, kind):
        self.kind, self.secret = kind, os.urandom(32)
        # The DER form of a private key of Ed25519.
        self.der = bytes.fromhex("302e020100300506032b657004220420") + self.secret
        public = self.openssl("pkey", "-inform", "DER", "-pubout", "-outform", "DER")[-32:]
        self.name = encode(bytes([kind]) + public)

    def openssl(self, *arguments, data=None):
        with tempfile.TemporaryDirectory() as directory:
            key = pathlib.Path(directory, "key.der")
            key.write_bytes(self.der)
            command = ["openssl", *arguments, "-inkey" if data is not None else "-in", str(key)]
            if data is not None:
                file = pathlib.Path(directory, "data")
                file.write_bytes(data)
                command += ["-keyform", "DER", "-rawin", "-in", str(file)]
            return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout

    @property
    def seed(self):
        return encode(bytes([SEED | self.kind >> 5, (self.kind & 31) << 3]) + self.secret)

    def sign(self, data):
        return self.openssl("pkeyutl", "-sign", data=data)


def url64(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def token(issuer, subject, name, claims):
    body = {"iat": int(time.time()), "iss": issuer.name, "name": name, "sub": subject.name, "nats": claims}
    body["jti"] = base64.b32encode(hashlib.sha256(json.dumps(body).encode()).digest()).decode().rstrip("=")
    text = ".".join(url64(json.dumps(part).encode()) for part in ({"typ": "JWT", "alg": "ed25519-nkey"}, body))
    return f"{text}.{url64(issuer.sign(text.encode()))}"


def account_token(operator, account):
    unlimited = {name: -1 for name in ("subs", "data", "payload", "imports", "exports", "conn", "leaf")}
    return token(operator, account, "account", {"type": "account", "version": 2, "limits": {**unlimited, "wildcards": True}})


def credentials(account, path):
    user = Key(USER)
    jwt = token(account, user, "user", {"type": "user", "version": 2, "pub": {}, "sub": {}, "subs": -1, "data": -1, "payload": -1})
    path.write_text(
        f"-----BEGIN NATS USER JWT-----\n{jwt}\n------END NATS USER JWT------\n\n"
        f"-----BEGIN USER NKEY SEED-----\n{user.seed}\n------END USER NKEY SEED------\n")


def main():
    directory = pathlib.Path(sys.argv[1])
    operator, account, stranger = Key(OPERATOR), Key(ACCOUNT), Key(ACCOUNT)
    (directory / "users.conf").write_text(
        f"operator: {token(operator, operator, 'operator', {'type': 'operator', 'version': 2})}\n"
        f"resolver: MEMORY\nresolver_preload: {{ {account.name}: {account_token(operator, account)} }}\n")
    credentials(account, directory / "user.creds")
    credentials(stranger, directory / "stranger.creds")


main()
