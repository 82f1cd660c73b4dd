# Walks through the main job with the client that OpenAPI Generator made: walk.rb DIRECTORY
$LOAD_PATH.unshift "#{ARGV.fetch(0)}/lib"
require 'json'
require 'uri'
require 'openapi_client'
include OpenapiClient

config = Configuration.default
address = URI(ENV.fetch('BASE_URL'))
config.scheme = address.scheme
config.host = "#{address.host}:#{address.port}"
config.server_index = nil
config.username = ENV.fetch('CLIENT_ID')
config.password = ENV.fetch('CLIENT_SECRET')
config.api_key['x-api-key'] = ENV.fetch('API_KEY')
config.access_token = AuthenticationApi.new.issue_token('client_credentials').access_token

users = UsersApi.new
benefits = BenefitsApi.new
userid = "ruby-#{Time.now.to_i}-#{Process.pid}"
person = Prefill.new(
  userid: userid, firstname: 'Ada', lastname: 'Rivera', email: 'ada@example.com', dob: '1990-03-27',
  zipcode: '33101', address: Address.new(state: 'FL')
)
once = { idempotency_key: userid, version: 'v2' }
# This generator gives an answer that is one string as it was sent, in JSON.
raise 'not saved' unless JSON.parse(users.prefill_user(person, once)) == 'prefill saved'
begin
  users.prefill_user(person, once)
  raise 'a repeat must be refused'
rescue ApiError => error
  raise unless error.code == 409 && JSON.parse(error.response_body)['code'] == 'user_exists'
end
listed = benefits.get_benefits(BenefitsRequest.new(userid: userid, age: 36, state: 'FL', zipcode: '33101'))
raise 'nothing is listed' if listed.empty?
user = users.create_user(CreateUser.new(userid: userid, offername: 'starter', benefits: ['telehealth']))
raise user.status unless user.status == 'active'
swap = benefits.swap_benefits(SwapRequest.new(userid: userid, add: ['dental'], remove: ['telehealth']))
raise 'no swap' unless swap.add == ['dental']
cancelled = users.cancel_user(userid)
raise 'no cancel' if cancelled.benefits.empty?
puts 'walked'
