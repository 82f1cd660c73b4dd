import java.io.IOException;
import java.time.Instant;
import java.util.Set;
import okhttp3.Interceptor;
import okhttp3.Request;
import okhttp3.Response;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.AuthenticationApi;

/** Sends requests with a token that it renews, and again under the same key while the service cannot answer. */
public class Benefits implements Interceptor {
  private static final Set<Integer> PASSING = Set.of(408, 429, 500, 502, 503, 504);
  private final AuthenticationApi tokens;
  private String token;
  private Instant renewAt = Instant.EPOCH;

  /** Its client sends the client id as user name and the client secret as password. */
  public Benefits(AuthenticationApi tokens) {
    this.tokens = tokens;
  }

  @Override
  public Response intercept(Chain chain) throws IOException {
    try {
      for (long wait = 500; ; wait *= 2) {
        Request request = chain.request().newBuilder().header("Authorization", "Bearer " + token()).build();
        Response answer = chain.proceed(request);
        boolean mayRepeat = wait <= 4000 && request.header("Idempotency-Key") != null;
        if (!mayRepeat || !PASSING.contains(answer.code())) return answer;
        answer.close();
        Thread.sleep(Math.max(wait, 1000 * Long.parseLong(answer.header("Retry-After", "0"))));
      }
    } catch (ApiException | InterruptedException stopped) {
      throw new IOException(stopped);
    }
  }

  private synchronized String token() throws ApiException {
    if (Instant.now().isBefore(renewAt)) return token;
    var issued = tokens.issueToken("client_credentials", null, null, null);
    renewAt = Instant.now().plusSeconds(issued.getExpiresIn().longValue() - 60);
    return token = issued.getAccessToken();
  }
}
