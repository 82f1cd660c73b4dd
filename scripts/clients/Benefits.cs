using System;
using System.Linq;
using System.Net.Http;
using System.Net.Http.Headers;
using System.Threading;
using System.Threading.Tasks;
using Api;

/// <summary>Sends requests with a token that it renews, and again under the same key while the service cannot answer:
/// new HttpClient(new Benefits(asking)). `asking` sends the client id and secret as Basic credentials.</summary>
public class Benefits : DelegatingHandler
{
    static readonly int[] Passing = { 408, 429, 500, 502, 503, 504 };
    readonly ApiClient asking;
    string token;
    DateTime renewAt;

    public Benefits(ApiClient asking) : base(new HttpClientHandler()) { this.asking = asking; }

    protected override async Task<HttpResponseMessage> SendAsync(HttpRequestMessage request, CancellationToken cancel)
    {
        for (var wait = 0.5; ; wait *= 2)
        {
            request.Headers.Authorization = new AuthenticationHeaderValue("Bearer", await Token(cancel));
            var answer = await base.SendAsync(request, cancel);
            var mayRepeat = wait <= 4 && request.Headers.Contains("Idempotency-Key");
            if (!mayRepeat || !Passing.Contains((int)answer.StatusCode)) return answer;
            var asked = answer.Headers.RetryAfter?.Delta?.TotalSeconds ?? 0;
            await Task.Delay(TimeSpan.FromSeconds(Math.Max(wait, asked)), cancel);
        }
    }

    async Task<string> Token(CancellationToken cancel)
    {
        if (DateTime.UtcNow < renewAt) return token;
        var issued = await asking.IssueTokenAsync(new TokenRequest { Grant_type = "client_credentials" }, cancel);
        renewAt = DateTime.UtcNow.AddSeconds(issued.Expires_in - 60);
        return token = issued.Access_token;
    }
}
