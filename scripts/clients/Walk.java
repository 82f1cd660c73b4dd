import java.util.List;
import java.util.Map;
import java.util.Set;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.AuthenticationApi;
import org.openapitools.client.api.BenefitsApi;
import org.openapitools.client.api.UsersApi;
import org.openapitools.client.model.*;

/** Walks through the main job with the client that OpenAPI Generator made. */
public class Walk {
  static void must(boolean holds, String what) {
    if (!holds) throw new IllegalStateException(what);
  }

  public static void main(String[] args) throws Exception {
    Map<String, String> env = System.getenv();
    ApiClient asking = new ApiClient();
    asking.setBasePath(env.get("BASE_URL"));
    asking.setUsername(env.get("CLIENT_ID"));
    asking.setPassword(env.get("CLIENT_SECRET"));
    ApiClient client = new ApiClient();
    client.setBasePath(env.get("BASE_URL"));
    client.setApiKey(env.get("API_KEY"));
    client.setHttpClient(client.getHttpClient().newBuilder().addInterceptor(new Benefits(new AuthenticationApi(asking))).build());

    UsersApi users = new UsersApi(client);
    BenefitsApi benefits = new BenefitsApi(client);
    String userid = "java-" + System.currentTimeMillis();
    Prefill person = new Prefill().userid(userid).firstname("Ada").lastname("Rivera").email("ada@example.com")
        .dob("1990-03-27").zipcode("33101").address(new Address().state(Address.StateEnum.FL));
    must("prefill saved".equals(String.valueOf(users.prefillUser(person, userid, "v2"))), "not saved");
    try {
      users.prefillUser(person, userid, "v2");
      must(false, "a repeat must be refused");
    } catch (ApiException refused) {
      must(refused.getCode() == 409 && refused.getResponseBody().contains("\"user_exists\""), refused.getResponseBody());
    }
    BenefitsRequest request = new BenefitsRequest().userid(userid).age(36).state(BenefitsRequest.StateEnum.FL).zipcode("33101");
    must(!benefits.getBenefits(request).isEmpty(), "nothing is listed");
    NewDependant spouse = new NewDependant().relationship(NewDependant.RelationshipEnum.SPOUSE).firstname("Grace")
        .lastname("Rivera").dob("1988-02-29").benefits(List.of(new CoveringBenefit().name("dental")));
    CreateUser wanted = new CreateUser().userid(userid).offername("starter").benefits(Set.of("dental")).dependants(List.of(spouse));
    User created = users.createUser(wanted, userid + "-create");
    must("active".equals(String.valueOf(created.getStatus())), "not active");
    must(created.getBenefits().stream().anyMatch(one -> one.getDependants() != null && one.getDependants().size() == 1), "no family");
    CoverRequest alone = new CoverRequest().userid(userid).name("dental").dependants(Set.of()).previewonly(true);
    CoverChange cover = benefits.changeCover(alone, null);
    must(cover.getBefore().getDependants().size() == 1, "nobody is covered");
    must(cover.getAfter().getCost().getCents() < cover.getBefore().getCost().getCents(), "no other price");
    SwapRequest swap = new SwapRequest().userid(userid).add(Set.of("telehealth")).remove(Set.of("dental"));
    must(benefits.swapBenefits(swap, null).getAdd().contains("telehealth"), "no swap");
    must(!users.cancelUser(userid, null, null, null, userid + "-cancel").getBenefits().isEmpty(), "no cancel");
    System.out.println("walked");
  }
}
