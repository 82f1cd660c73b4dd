<?php
use GuzzleHttp\{Client, HandlerStack, Middleware};
use OpenAPI\Client\Api\AuthenticationApi;
use OpenAPI\Client\Configuration;

/** Requests with a token that it renews, and again under the same key while the service cannot answer. */
final class Benefits
{
    private string $token = '';
    private int $renewAt = 0;

    public function __construct(private Configuration $config) {}

    /** For each class of the generated client: `new UsersApi($benefits->http(), $config)`. */
    public function http(): Client
    {
        $mayRepeat = fn($tries, $request, $answer = null) => $tries < 4 && $request->hasHeader('Idempotency-Key')
            && in_array($answer?->getStatusCode() ?? 503, [408, 429, 500, 502, 503, 504]);
        $wait = fn($tries, $answer = null) => max(500 * 2 ** ($tries - 1), 1000 * (int) $answer?->getHeaderLine('Retry-After'));
        $stack = HandlerStack::create();
        $stack->push(Middleware::retry($mayRepeat, $wait));
        $stack->push(Middleware::mapRequest(fn($request) => $request->withHeader('Authorization', 'Bearer ' . $this->token())));
        return new Client(['handler' => $stack]);
    }

    private function token(): string
    {
        if (time() >= $this->renewAt) {
            $issued = (new AuthenticationApi(null, $this->config))->issueToken('client_credentials');
            $this->token = $issued->getAccessToken();
            $this->renewAt = time() + $issued->getExpiresIn() - 60;
        }
        return $this->token;
    }
}
