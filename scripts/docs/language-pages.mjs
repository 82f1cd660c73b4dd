// Generates a page for each language without a client of ours: the command of docs/tools.md that generates one, the lines of
// scripts/clients that renew the token and repeat what is safe, which scripts/try-clients.sh runs, and the check of a delivery from
// its guide.
import { readFileSync } from 'node:fs'

const root = new URL('../../', import.meta.url)
function read(file) {
  return readFileSync(new URL(file, root), 'utf8')
}

/** How each generator is installed, the file in scripts/clients, its use, and what to know besides. */
const languages = [
  {
    path: 'python',
    name: 'Python',
    install: 'pip install openapi-python-client==0.29.1',
    file: 'benefits.py',
    use: `auth = Benefits("https://benefits.example.com", client_id, client_secret)
client = AuthenticatedClient("https://benefits.example.com", "", headers={"x-api-key": api_key}, httpx_args={"auth": auth})
prefill_user.sync(client=client, body=person, idempotency_key="u-1001-1", version=PrefillUserVersion.V2)`,
  },
  {
    path: 'java',
    name: 'Java',
    install: 'pip install openapi-generator-cli==7.26.0',
    file: 'Benefits.java',
    use: `client.setHttpClient(client.getHttpClient().newBuilder().addInterceptor(new Benefits(tokens)).build());
new UsersApi(client).prefillUser(person, "u-1001-1", "v2");`,
  },
  {
    path: 'csharp',
    name: 'C#',
    install: 'npm install nswag@14.7.1',
    file: 'Benefits.cs',
    use: `var client = new ApiClient(new HttpClient(new Benefits(asking))) { BaseUrl = "https://benefits.example.com" };
await client.PrefillUserAsync("u-1001-1", Api.Version.V2, person);`,
    note: 'Without its last option NSwag sends the first gender of the list for a person without one.',
  },
  {
    path: 'go',
    name: 'Go',
    install:
      'go install github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2\ngo get golang.org/x/oauth2',
    file: 'benefits.go',
    use: `const baseURL = "https://benefits.example.com"
client, err := api.NewClientWithResponses(baseURL, api.WithHTTPClient(NewBenefits(baseURL, id, secret, key)))`,
  },
  {
    path: 'php',
    name: 'PHP',
    install: 'pip install openapi-generator-cli==7.26.0',
    file: 'benefits.php',
    use: `(new UsersApi(benefits($config), $config))->prefillUser($person, "u-1001-1", "v2");`,
    note: 'The answer of a prefill is given as it was sent, in JSON: `"prefill saved"` with its quotes.',
  },
  {
    path: 'ruby',
    name: 'Ruby',
    install: 'pip install openapi-generator-cli==7.26.0',
    file: 'benefits.rb',
    use: `benefits = Benefits.new(config)
benefits.call("u-1001-1") { |once| users.prefill_user(person, once.merge(version: "v2")) }`,
    note: 'The answer of a prefill is given as it was sent, in JSON: `"prefill saved"` with its quotes.',
  },
]

/** The table of docs/tools.md, whose languages lead to their pages. */
export function withLinks(table) {
  return languages.reduce(
    (text, { name, path }) => text.replace(`| ${name} |`, `| [${name}](${path}) |`),
    table,
  )
}

/** A page for each language, in the group of the tools. */
export function languagePages() {
  const guide = read('docs/verify-webhooks.md')
  const table = read('docs/tools.md')
  return languages.map(({ name, ...language }) => {
    const row = table.split('\n').find(line => line.startsWith(`| ${name} |`))
    const [, tool, command] = /^\|[^|]+\| ([^|]+) \| `([^`]+)` \| [^|]+ \|$/.exec(row) ?? []
    if (!command) throw new Error(`docs/tools.md has no ${name}`)
    const markdown = pageOf({ ...language, name, tool, command }, guide)
    return { group: 'Tools', path: language.path, name, markdown }
  })
}

function pageOf({ path, name, tool, install, command, file, use, note }, guide) {
  const fence = text => `\`\`\`${path}\n${text.trim()}\n\`\`\``
  const check = new RegExp(`^\`\`\`${path}\\n[\\s\\S]*?^\`\`\`$`, 'm').exec(guide)?.[0]
  if (!check) throw new Error(`docs/verify-webhooks.md has no ${name}`)
  return `# ${name}

You need this when you call the service from ${name}. You generate a client from the description of the interface, put some lines around
it, and check deliveries by a function of your own.

## Generate

\`\`\`text
${install}
curl -sSf https://benefits.example.com/openapi.json -o openapi.json
${command}
\`\`\`

Tried with ${tool}.${note ? ` ${note}` : ''}

## Renew the token, repeat what is safe

A generated client does neither. These lines fetch a token, renew it before it ends, and send a request that has an
\`Idempotency-Key\` again when its answer says that the service cannot answer now, never sooner than \`Retry-After\` asks. Why the key makes that
safe: [repeat a write safely](idempotency.md). They are run every night against a service whose tokens end at once and which
refuses each write the first time.

${fence(read(`scripts/clients/${file}`).replace(/^<\?php\n/, ''))}

In use:

${fence(use)}

## Check a delivery

${check}

## Next

- [Quick start](quick-start.md): the same requests in a shell.
- [Receive webhooks](webhooks.md#what-to-do-in-this-order): the rest of a receiver.
- [Every operation](reference).
`
}
