"""Walks through the main job with the client that openapi-python-client made: walk.py DIRECTORY, which holds `api`."""

import os
import sys
import time

sys.path.insert(0, sys.argv[1])

from api.api.benefits import get_benefits, swap_benefits
from api.api.users import cancel_user, create_user, prefill_user
from api.models import (
    Address,
    AddressState,
    BenefitsRequest,
    BenefitsRequestState,
    CreateUser,
    Prefill,
    PrefillUserVersion,
    SwapRequest,
)
from benefits import Benefits

names = "BASE_URL", "CLIENT_ID", "CLIENT_SECRET", "API_KEY"
benefits = Benefits(*(os.environ[name] for name in names))

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
once = {"body": person, "idempotency_key": userid, "version": PrefillUserVersion.V2}
assert benefits.call(prefill_user, **once).parsed == "prefill saved"
repeated = benefits.call(prefill_user, **once)
assert repeated.status_code == 409 and repeated.parsed.code == "user_exists"
request = BenefitsRequest(userid=userid, age=36, state=BenefitsRequestState.FL, zipcode="33101")
assert len(benefits.call(get_benefits, body=request).parsed) > 0
wanted = CreateUser(userid=userid, offername="starter", benefits=["telehealth"])
created = benefits.call(create_user, body=wanted, idempotency_key=f"{userid}-create")
assert created.parsed.status == "active"
swap = SwapRequest(userid=userid, add=["dental"], remove=["telehealth"])
assert benefits.call(swap_benefits, body=swap).parsed.add == ["dental"]
assert len(benefits.call(cancel_user, userid=userid, idempotency_key=f"{userid}-cancel").parsed.benefits) > 0
print("walked")
