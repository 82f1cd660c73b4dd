"""Walks through the main job with the client that openapi-python-client made: walk.py DIRECTORY, which holds `api`."""

import os
import sys
import time

sys.path.insert(0, sys.argv[1])

import httpx
from api import AuthenticatedClient, Client
from api.api.authentication import issue_token
from api.api.benefits import get_benefits, swap_benefits
from api.api.users import cancel_user, create_user, prefill_user
from api.models import (
    Address,
    AddressState,
    BenefitsRequest,
    BenefitsRequestState,
    CreateUser,
    IssueTokenTokenRequest,
    Prefill,
    PrefillUserVersion,
    SwapRequest,
)

base_url = os.environ["BASE_URL"]
basic = httpx.BasicAuth(os.environ["CLIENT_ID"], os.environ["CLIENT_SECRET"])
token = issue_token.sync(
    client=Client(base_url=base_url, httpx_args={"auth": basic}),
    body=IssueTokenTokenRequest(grant_type="client_credentials"),
)
client = AuthenticatedClient(
    base_url=base_url, token=token.access_token, headers={"x-api-key": os.environ["API_KEY"]}
)

userid = f"python-{int(time.time())}-{os.getpid()}"
person = Prefill(
    userid=userid,
    firstname="Ada",
    lastname="Rivera",
    email="ada@example.com",
    dob="1990-03-27",
    zipcode="33101",
    address=Address(state=AddressState.FL),
)
once = {"idempotency_key": userid, "version": PrefillUserVersion.V2}
assert prefill_user.sync(client=client, body=person, **once) == "prefill saved"
repeated = prefill_user.sync_detailed(client=client, body=person, **once)
assert repeated.status_code == 409 and repeated.parsed.code == "user_exists"
request = BenefitsRequest(userid=userid, age=36, state=BenefitsRequestState.FL, zipcode="33101")
assert len(get_benefits.sync(client=client, body=request)) > 0
wanted = CreateUser(userid=userid, offername="starter", benefits=["telehealth"])
assert create_user.sync(client=client, body=wanted).status == "active"
swap = SwapRequest(userid=userid, add=["dental"], remove=["telehealth"])
assert swap_benefits.sync(client=client, body=swap).add == ["dental"]
assert len(cancel_user.sync(userid, client=client).benefits) > 0
print("walked")
