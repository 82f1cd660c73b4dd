import time

import httpx
from api import AuthenticatedClient, Client
from api.api.authentication import issue_token
from api.models import IssueTokenTokenRequest


class Benefits:
    """Calls with a token that it renews, and again under the same key while the service cannot answer."""

    def __init__(self, base_url, client_id, client_secret, api_key):
        self.base_url, self.headers = base_url, {"x-api-key": api_key}
        self.basic = httpx.BasicAuth(client_id, client_secret)
        self.renew_at = 0.0

    def client(self):
        if time.monotonic() >= self.renew_at:
            asking = Client(base_url=self.base_url, httpx_args={"auth": self.basic})
            request = IssueTokenTokenRequest(grant_type="client_credentials")
            issued = issue_token.sync(client=asking, body=request)
            self.renew_at = time.monotonic() + issued.expires_in - 60
            self.known = AuthenticatedClient(self.base_url, issued.access_token, headers=self.headers)
        return self.known

    def call(self, operation, **request):
        for attempt in range(5):
            answer = operation.sync_detailed(client=self.client(), **request)
            if answer.status_code not in (408, 429, 500, 502, 503, 504) or "idempotency_key" not in request:
                break
            time.sleep(max(0.5 * 2**attempt, float(answer.headers.get("retry-after", 0))))
        return answer
