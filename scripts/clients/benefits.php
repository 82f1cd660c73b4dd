<?php
use GuzzleHttp\{Client, HandlerStack, Middleware};
use OpenAPI\Client\Api\AuthenticationApi;
use OpenAPI\Client\Configuration;

/** A client that renews the token, and sends a request that has a key again while the service cannot answer. */
function benefits(Configuration $config): Client
{
    $renewAt = 0;
    $withToken = function ($request) use ($config, &$renewAt) {
        if (time() >= $renewAt) {
            $issued = (new AuthenticationApi(null, $config))->issueToken('client_credentials');
            $config->setAccessToken($issued->getAccessToken());
            $renewAt = time() + $issued->getExpiresIn() - 60;
        }
        return $request->withHeader('Authorization', 'Bearer ' . $config->getAccessToken());
    };
    $mayRepeat = fn($tries, $request, $answer = null) => $tries < 4 && $request->hasHeader('Idempotency-Key')
        && in_array($answer?->getStatusCode() ?? 503, [408, 429, 500, 502, 503, 504]);
    $wait = fn($tries, $answer = null) => max(500 * 2 ** ($tries - 1), 1000 * (int) $answer?->getHeaderLine('Retry-After'));
    $stack = HandlerStack::create();
    $stack->push(Middleware::retry($mayRepeat, $wait));
    $stack->push(Middleware::mapRequest($withToken));
    return new Client(['handler' => $stack]);
}
