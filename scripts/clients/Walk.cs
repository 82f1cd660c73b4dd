// Walks through the main job with the client that NSwag made.
using System;
using System.Linq;
using System.Net.Http;
using System.Net.Http.Headers;
using System.Text;
using System.Threading.Tasks;
using Api;

static class Walk
{
    static void Must(bool holds, string what)
    {
        if (!holds) throw new InvalidOperationException(what);
    }

    static string Env(string name) { return Environment.GetEnvironmentVariable(name); }

    static void Main()
    {
        Run().GetAwaiter().GetResult();
    }

    static async Task Run()
    {
        var basic = Convert.ToBase64String(Encoding.UTF8.GetBytes(Env("CLIENT_ID") + ":" + Env("CLIENT_SECRET")));
        var alone = new HttpClient();
        alone.DefaultRequestHeaders.Authorization = new AuthenticationHeaderValue("Basic", basic);
        var http = new HttpClient(new Benefits(new ApiClient(alone) { BaseUrl = Env("BASE_URL") }));
        var client = new ApiClient(http) { BaseUrl = Env("BASE_URL") };
        http.DefaultRequestHeaders.Add("x-api-key", Env("API_KEY"));

        var userid = "csharp-" + DateTime.UtcNow.Ticks;
        var person = new Prefill
        {
            Userid = userid, Firstname = "Ada", Lastname = "Rivera", Email = "ada@example.com", Dob = "1990-03-27",
            Zipcode = "33101", Address = new Address { State = AddressState.FL }
        };
        Must(await client.PrefillUserAsync(userid, Api.Version.V2, person) == "prefill saved", "not saved");
        try
        {
            await client.PrefillUserAsync(userid, Api.Version.V2, person);
            Must(false, "a repeat must be refused");
        }
        catch (ApiException<Problem> refused)
        {
            Must(refused.StatusCode == 409 && refused.Result.Code.ToString().ToLower().Contains("exists"), refused.Result.Detail);
        }
        var request = new BenefitsRequest { Userid = userid, Age = 36, State = BenefitsRequestState.FL, Zipcode = "33101" };
        Must((await client.GetBenefitsAsync(request)).Count > 0, "nothing is listed");
        var spouse = new NewDependant
        {
            Relationship = NewDependantRelationship.Spouse, Firstname = "Grace", Lastname = "Rivera", Dob = "1988-02-29",
            Benefits = new[] { new CoveringBenefit { Name = "dental" } }
        };
        var wanted = new CreateUser
        {
            Userid = userid, Offername = "starter", Benefits = new[] { "dental" }, Dependants = new[] { spouse }
        };
        var created = await client.CreateUserAsync(userid + "-create", wanted);
        Must(created.Status == UserStatus.Active, "not active");
        Must(created.Benefits.Any(one => one.Dependants != null && one.Dependants.Count == 1), "no family");
        var nobody = new CoverRequest { Userid = userid, Name = "dental", Dependants = new string[0], Previewonly = true };
        var cover = await client.ChangeCoverAsync(null, nobody);
        Must(cover.Before.Dependants.Count == 1 && cover.After.Cost.Cents < cover.Before.Cost.Cents, "no other price");
        var swap = new SwapRequest { Userid = userid, Add = new[] { "telehealth" }, Remove = new[] { "dental" } };
        Must((await client.SwapBenefitsAsync(null, swap)).Add.Contains("telehealth"), "no swap");
        Must((await client.CancelUserAsync(userid, null, null, null, userid + "-cancel")).Benefits.Count > 0, "no cancel");
        Console.WriteLine("walked");
    }
}
