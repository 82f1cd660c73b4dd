require 'openapi_client'
require 'securerandom'

# Calls with a token that it renews, and again under the same key while the service cannot answer:
#   benefits.call { |once| users.create_user(wanted, once) }
class Benefits
  PASSING = [0, 408, 429, 500, 502, 503, 504].freeze

  def initialize(config)
    @config = config
    @renew_at = Time.at(0)
  end

  def call(key = SecureRandom.uuid)
    wait ||= 0.5
    renew if Time.now >= @renew_at
    yield({ idempotency_key: key })
  rescue OpenapiClient::ApiError => error
    raise unless PASSING.include?(error.code.to_i) && wait <= 4
    sleep [wait, (error.response_headers || {})['Retry-After'].to_f].max
    wait *= 2
    retry
  end

  def renew
    issued = OpenapiClient::AuthenticationApi.new.issue_token('client_credentials')
    @config.access_token = issued.access_token
    @renew_at = Time.now + issued.expires_in - 60
  end
end
