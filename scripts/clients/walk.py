"""Walks through the main job with the client that openapi-python-client made: walk.py DIRECTORY, which holds `api`."""

import os
import sys
import time

sys.path.insert(0, sys.argv[1])

from api import AuthenticatedClient
from api.api.benefits import change_cover, get_benefits, swap_benefits
from api.api.users import cancel_user, create_user, prefill_user
from api.models import (
    Address,
    AddressState,
    BenefitsRequest,
    BenefitsRequestState,
    CoveringBenefit,
    CoverRequest,
    CreateUser,
    NewDependant,
    NewDependantRelationship,
    Prefill,
    PrefillUserVersion,
    SwapRequest,
)
from benefits import Benefits

url, key = os.environ["BASE_URL"], os.environ["API_KEY"]
auth = Benefits(url, os.environ["CLIENT_ID"], os.environ["CLIENT_SECRET"])
client = AuthenticatedClient(url, "", headers={"x-api-key": key}, httpx_args={"auth": auth})

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
once = {"client": client, "body": person, "idempotency_key": userid, "version": PrefillUserVersion.V2}
assert prefill_user.sync_detailed(**once).parsed == "prefill saved"
repeated = prefill_user.sync_detailed(**once)
assert repeated.status_code == 409 and repeated.parsed.code == "user_exists"
request = BenefitsRequest(userid=userid, age=36, state=BenefitsRequestState.FL, zipcode="33101")
assert len(get_benefits.sync_detailed(client=client, body=request).parsed) > 0
spouse = NewDependant(
    relationship=NewDependantRelationship.SPOUSE,
    firstname="Grace",
    lastname="Rivera",
    dob="1988-02-29",
    benefits=[CoveringBenefit(name="dental")],
)
wanted = CreateUser(userid=userid, offername="starter", benefits=["dental"], dependants=[spouse])
created = create_user.sync_detailed(client=client, body=wanted, idempotency_key=f"{userid}-create")
assert created.parsed.status == "active"
assert [len(one.dependants) for one in created.parsed.benefits if one.name == "dental"] == [1]
alone = CoverRequest(userid=userid, name="dental", dependants=[], previewonly=True)
cover = change_cover.sync_detailed(client=client, body=alone).parsed
assert len(cover.before.dependants) == 1 and cover.after.cost.cents < cover.before.cost.cents
swap = SwapRequest(userid=userid, add=["telehealth"], remove=["dental"])
assert swap_benefits.sync_detailed(client=client, body=swap).parsed.add == ["telehealth"]
assert len(cancel_user.sync_detailed(client=client, userid=userid, idempotency_key=f"{userid}-cancel").parsed.benefits) > 0
print("walked")
