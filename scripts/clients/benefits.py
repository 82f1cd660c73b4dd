import time

import httpx


class Benefits(httpx.Auth):
    """Renews the token, and sends a request that has a key again while the service cannot answer."""

    requires_response_body = True

    def __init__(self, base_url, client_id, client_secret):
        form = {"grant_type": "client_credentials", "client_id": client_id, "client_secret": client_secret}
        self.asking = httpx.Request("POST", base_url + "/oauth2/token", data=form)
        self.renew_at = 0.0

    def auth_flow(self, request):
        for wait in (0.5, 1, 2, 4, None):
            if time.monotonic() >= self.renew_at:
                issued = (yield self.asking).raise_for_status().json()
                self.renew_at = time.monotonic() + issued["expires_in"] - 60
                self.bearer = "Bearer " + issued["access_token"]
            request.headers["Authorization"] = self.bearer
            answer = yield request
            is_passing = answer.status_code in (408, 429, 500, 502, 503, 504)
            if not is_passing or wait is None or "idempotency-key" not in request.headers:
                break
            time.sleep(max(wait, float(answer.headers.get("retry-after", 0))))
