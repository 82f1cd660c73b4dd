# Walks through the main job with the client that OpenAPI Generator made: walk.rb DIRECTORY
$LOAD_PATH.unshift "#{ARGV.fetch(0)}/lib"
require 'json'
require 'uri'
require 'openapi_client'
require_relative 'benefits'
include OpenapiClient

config = Configuration.default
address = URI(ENV.fetch('BASE_URL'))
config.scheme = address.scheme
config.host = "#{address.host}:#{address.port}"
config.server_index = nil
config.username = ENV.fetch('CLIENT_ID')
config.password = ENV.fetch('CLIENT_SECRET')
config.api_key['x-api-key'] = ENV.fetch('API_KEY')
session = Benefits.new(config)

users = UsersApi.new
benefits = BenefitsApi.new
userid = "ruby-#{Time.now.to_i}-#{Process.pid}"
person = Prefill.new(
  userid: userid, firstname: 'Ada', lastname: 'Rivera', email: 'ada@example.com', dob: '1990-03-27',
  zipcode: '33101', address: Address.new(state: 'FL')
)
save = -> { session.call(userid) { |once| users.prefill_user(person, once.merge(version: 'v2')) } }
# This generator gives an answer that is one string as it was sent, in JSON.
raise 'not saved' unless JSON.parse(save.call) == 'prefill saved'
begin
  save.call
  raise 'a repeat must be refused'
rescue ApiError => error
  raise unless error.code == 409 && JSON.parse(error.response_body)['code'] == 'user_exists'
end
request = BenefitsRequest.new(userid: userid, age: 36, state: 'FL', zipcode: '33101')
listed = session.call { benefits.get_benefits(request) }
raise 'nothing is listed' if listed.empty?
spouse = NewDependant.new(
  relationship: 'spouse', firstname: 'Grace', lastname: 'Rivera', dob: '1988-02-29',
  benefits: [CoveringBenefit.new(name: 'dental')]
)
wanted = CreateUser.new(userid: userid, offername: 'starter', benefits: ['dental'], dependants: [spouse])
user = session.call { |once| users.create_user(wanted, once) }
raise user.status unless user.status == 'active'
raise 'no family' unless user.benefits.sum { |one| (one.dependants || []).size } == 1
alone = CoverRequest.new(userid: userid, name: 'dental', dependants: [], previewonly: true)
cover = session.call { |once| benefits.change_cover(alone, once) }
raise 'no other price' unless cover.after.cost.cents < cover.before.cost.cents
change = SwapRequest.new(userid: userid, add: ['telehealth'], remove: ['dental'])
swap = session.call { |once| benefits.swap_benefits(change, once) }
raise 'no swap' unless swap.add == ['telehealth']
cancelled = session.call { |once| users.cancel_user(userid, once) }
raise 'no cancel' if cancelled.benefits.empty?
puts 'walked'
