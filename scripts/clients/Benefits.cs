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
        for (var attempt = 0; ; attempt++)
        {
            request.Headers.Authorization = new AuthenticationHeaderValue("Bearer", await Token(cancel));
            var answer = await base.SendAsync(request, cancel);
            var mayRepeat = attempt < 4 && request.Headers.Contains("Idempotency-Key");
            if (!mayRepeat || !Passing.Contains((int)answer.StatusCode)) return answer;
            var asked = answer.Headers.RetryAfter?.Delta ?? TimeSpan.Zero;
            answer.Dispose();
            await Task.Delay(Math.Max(500 << attempt, (int)asked.TotalMilliseconds), cancel);
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
