import java.io.IOException;
import java.time.Instant;
import java.util.Set;
import okhttp3.Interceptor;
import okhttp3.Request;
import okhttp3.Response;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.AuthenticationApi;

/** Sends requests with a token that it renews, and again under the same key while the service cannot answer. */
public class Benefits implements Interceptor {
  private static final Set<Integer> PASSING = Set.of(408, 429, 500, 502, 503, 504);
  private final AuthenticationApi tokens;
  private String token;
  private Instant renewAt = Instant.EPOCH;

  /** `asking` has the client id as its user name and the client secret as its password. */
  public Benefits(ApiClient asking) {
    tokens = new AuthenticationApi(asking);
  }

  @Override
  public Response intercept(Chain chain) throws IOException {
    for (int attempt = 0; ; attempt++) {
      Request request = chain.request().newBuilder().header("Authorization", "Bearer " + token()).build();
      Response answer = chain.proceed(request);
      boolean mayRepeat = attempt < 4 && request.header("Idempotency-Key") != null;
      if (!mayRepeat || !PASSING.contains(answer.code())) return answer;
      long asked = 1000 * Long.parseLong(answer.header("Retry-After", "0"));
      answer.close();
      try {
        Thread.sleep(Math.max(500L << attempt, asked));
      } catch (InterruptedException stopped) {
        throw new IOException(stopped);
      }
    }
  }

  private synchronized String token() throws IOException {
    if (Instant.now().isBefore(renewAt)) return token;
    try {
      var issued = tokens.issueToken("client_credentials", null, null, null);
      renewAt = Instant.now().plusSeconds(issued.getExpiresIn().longValue() - 60);
      return token = issued.getAccessToken();
    } catch (ApiException refused) {
      throw new IOException(refused);
    }
  }
}
