/** An example of each parameter and form field whose schema does not list its values. */
export const parameterExamples: Readonly<Record<string, string>> = {
  userid: 'u-1001',
  webhookid: '019aa1b2-0c4e-7d3a-9b1f-2c5d7e8f9a0b',
  eventid: '019aa1b2-0d11-7c00-8a3e-5b6c7d8e9f00',
  sessionid: '019abc12-3456-7def-8123-456789abcdea',
  after: 'NzQyLjAxOWFhMWIyLTBkMTEtN2MwMC04YTNlLTViNmM3ZDhlOWYwMA',
  eventname: 'offer_activiation_successful',
  version: '1.0.2',
  client_id: 'enr_ci_sandbox_019abc1234567def',
  client_secret: 'the-secret-that-was-shown-once',
  token_type_hint: 'access_token',
}
