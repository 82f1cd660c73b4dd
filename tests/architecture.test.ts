import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { functionsOf } from './function-lengths.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const source = 'service/src'

// From the top down: a folder may import from the layers below its own.
const layers: readonly (readonly string[])[] = [
  ['main.ts', 'cli', 'demo', 'service.ts', 'assembly', 'config.ts', 'config-addresses.ts', 'installation.ts'],
  ['console'],
  [
    'oauth',
    'prefill',
    'benefits',
    'accounts',
    'bulk',
    'imports',
    'offers',
    'registration',
    'webhooks',
    'statements',
    'feeds',
    'sandbox',
    'system',
    'docs',
  ],
  ['membership', 'schedule', 'idempotency'],
  ['partners', 'catalogue', 'audit', 'operators'],
  ['files', 'look', 'quiet.ts'],
  ['http', 'db', 'vault'],
  // These need nothing else, and every folder may import them.
  [
    'calendar',
    'csv.ts',
    'read-csv.ts',
    'lines.ts',
    'operator-error.ts',
    'log.ts',
    'tracing.ts',
    'version.ts',
  ],
]

// The files beside the handlers and `http` that turn a refusal into an error of the API, and why.
const answering: Readonly<Record<string, string>> = {
  'assembly/listener.ts': 'refuses browsers that try one session after the other',
  'bulk/answer-lines.ts': 'answers each line of a request',
  'bulk/read-line.ts': 'reads each line of a request',
  'imports/read-member.ts': 'reads a line by the schema of a request',
  'idempotency/key-reservation.ts': 'reads a header of the request for its handler',
  'idempotency/keyed.ts': 'answers a repeated request for its handler',
  'membership/requests/answer.ts': 'answers the refusals of rules for the handlers of all slices',
  'partners/authenticate.ts': 'checks a request before its handler is called',
  'partners/rate-limit.ts': 'checks a request before its handler is called',
  'registration/browser-files.ts': 'routes of the page',
  'registration/embed-routes.ts': 'routes of the page',
  'registration/pages.ts': 'routes of the page',
  'registration/screens/problem.ts': 'says to people what an error means',
  'registration/session/request-guard.ts': 'checks a request before the page reads it',
  'system/files.ts': 'routes of files',
}

// The rooms of the largest folders, from the top down, as above.
const rooms: Readonly<Record<string, readonly (readonly string[])[]>> = {
  registration: [
    ['mount.ts'],
    ['pages.ts', 'embed-routes.ts'],
    ['links'],
    ['answer-view.ts'],
    ['screens.ts'],
    ['screens'],
    ['steps'],
    ['session'],
    ['views', 'browser-files.ts'],
  ],
  webhooks: [['delivery', 'api'], ['endpoint'], ['egress', 'log']],
  console: [
    ['listener'],
    ['screens.ts'],
    ['home', 'developer'],
    ['user', 'decisions', 'tidy.ts'],
    ['acts', 'catalogue', 'audit', 'due', 'feeds', 'find', 'partner', 'statements', 'webhooks'],
    ['requests', 'user-data'],
    ['views', 'partners.ts', 'reason.ts'],
    ['screen'],
    ['console-context.ts'],
    ['background'],
    ['position.ts', 'asked-day.ts'],
  ],
  membership: [
    ['erasure-list', 'export', 'requests'],
    ['commands'],
    ['saving'],
    ['reading'],
    ['command.ts'],
    ['records'],
    ['rules'],
  ],
  cli: [
    ['serve.ts', 'sandbox'],
    ['run-service.ts', 'console.ts'],
    ['processes'],
    ['open-service.ts'],
    ['partner'],
    ['feeds'],
    ['catalogue', 'keys', 'operator', 'migrate.ts', 'backup.ts', 'copy.ts', 'cell.ts', 'maintain.ts'],
    ['making-copies.ts'],
    ['workspace.ts'],
    ['date-option.ts', 'listen-address.ts', 'partner-option.ts', 'reach.ts', 'signals.ts'],
    ['log-stream.ts'],
  ],
}

// Imports within a layer, each with its reason; never in a circle.
const besides: Readonly<Record<string, string>> = {
  'audit > partners': 'blocks of what was recorded are signed by a key that hangs on the partner’s',
  'schedule > membership': 'what is due is applied by the executor like any command',
  'membership > idempotency': 'a key is reserved in the transaction of the change that it protects',
  'registration > accounts': 'the page makes the changes of the API, by the same rules',
  'registration > benefits': 'the page makes the changes of the API, by the same rules',
  'registration > offers': 'the page makes the changes of the API, by the same rules',
  'http > db': 'a database that cannot be reached is 503, wherever it was asked',
  'http > vault': 'the ids of requests are made there',
}

// Only these folders may import these packages.
const owners: Readonly<Record<string, readonly string[]>> = {
  fastify: ['http', 'bulk', 'partners', 'oauth', 'system', 'docs', 'registration', 'console'],
  pg: ['db'],
  undici: ['webhooks'],
  '@opentelemetry/api': ['tracing.ts'],
}

// Each is one list that reads worse in parts.
const listedAsLongFunctions: Readonly<Record<string, string>> = {
  'examples/gig-platform/platform.mjs: startPlatform': 'the routes of the example, in one table',
  'service/src/http/server.ts: createServer': 'the hooks of every request, in their order',
}

const tracked = execFileSync(
  'git',
  ['-c', 'safe.directory=*', 'ls-files', '*.ts', '*.tsx', '*.mjs', '*.js'],
  {
    cwd: root,
    encoding: 'utf8',
  },
)
  .trim()
  .split('\n')
const everything = execFileSync('git', ['-c', 'safe.directory=*', 'ls-files'], {
  cwd: root,
  encoding: 'utf8',
})
  .trim()
  .split('\n')
function read(file: string) {
  return readFileSync(join(root, file), 'utf8')
}
const production = tracked.filter(file => file.startsWith(`${source}/`) && !file.endsWith('.test.ts'))

/** The first part of a path below service/src: the folder, or the file if it is in none. */
function placeOf(file: string) {
  return file.slice(source.length + 1).split('/')[0] ?? ''
}
function layerOf(place: string) {
  return layers.findIndex(layer => layer.includes(place))
}

const arrows = production.flatMap(file =>
  [...read(file).matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map(([, target = '']) => ({
    file,
    from: placeOf(file),
    target,
    to: target.startsWith('.') ? placeOf(normalize(join(dirname(file), target))) : undefined,
  })),
)

describe('the arrows of the service', () => {
  test('every place stands in a layer', () => {
    expect([...new Set(production.map(placeOf))].filter(place => layerOf(place) < 0)).toEqual([])
  })

  test('point down, or beside where a reason is given', () => {
    const wrong = arrows.filter(({ from, to }) => {
      if (to === undefined || to === from) return false
      const isBeside = layerOf(from) === layerOf(to) && layerOf(from) > 0
      return isBeside ? !(`${from} > ${to}` in besides) : layerOf(to) < layerOf(from)
    })
    expect(wrong.map(({ file, target }) => `${file} imports ${target}`)).toEqual([])
  })

  test('that stand beside have no way back, and none is listed in vain', () => {
    for (const arrow of Object.keys(besides)) {
      const [from, to] = arrow.split(' > ')
      expect(Object.keys(besides)).not.toContain(`${to} > ${from}`)
      expect(arrows.some(one => one.from === from && one.to === to)).toBe(true)
    }
  })

  test.each(Object.entries(rooms))('point down between the rooms of %s', (folder, floors) => {
    const roomOf = (file: string) => file.slice(`${source}/${folder}/`.length).split('/')[0] ?? ''
    const floorOf = (room: string) => floors.findIndex(floor => floor.includes(room))
    const files = production.filter(file => placeOf(file) === folder)
    expect(files.filter(file => floorOf(roomOf(file)) < 0)).toEqual([])
    const wrong = arrows.filter(({ file, from, to, target }) => {
      if (from !== folder || to !== folder) return false
      const [above, below] = [roomOf(file), roomOf(normalize(join(dirname(file), target)))]
      return above !== below && floorOf(below) <= floorOf(above)
    })
    expect(wrong.map(({ file, target }) => `${file} imports ${target}`)).toEqual([])
  })

  test('of a rule never lead to the door: a rule returns its refusal and knows no HTTP', () => {
    const wrong = arrows.filter(
      ({ file, to }) => file.startsWith(`${source}/membership/rules/`) && to === 'http',
    )
    expect(wrong.map(({ file, target }) => `${file} imports ${target}`)).toEqual([])
  })

  test('lead to the errors of the API from handlers and routes only: everything below returns its refusals', () => {
    const answers = arrows
      .filter(({ from, target }) => from !== 'http' && target.endsWith('/http/service-error.ts'))
      .map(({ file }) => file.slice(`${source}/`.length))
      .filter(file => !/\/(?:mount|handlers|[a-z]+-handlers)\.ts$/.test(file))
    expect(answers.sort()).toEqual(Object.keys(answering).sort())
  })

  test('lead to a library only from where it is wrapped', () => {
    const wrong = arrows.filter(({ from, target }) => owners[target] && !owners[target].includes(from))
    expect(wrong.map(({ file, target }) => `${file} imports ${target}`)).toEqual([])
  })
})

test('no file imports itself by way of others, not even a type: each can be read without knowing what stands above it', () => {
  const imported = new Map(
    tracked
      .filter(file => /\.tsx?$/.test(file) && !/\.test\.ts$|^tests\//.test(file))
      .map(file => [
        file,
        [...read(file).matchAll(/from\s+'(\.[^']+)'/g)].map(([, target = '']) =>
          normalize(join(dirname(file), target)),
        ),
      ]),
  )
  const open = new Set<string>()
  const done = new Set<string>()
  const circles: string[] = []
  const visit = (file: string, path: readonly string[]) => {
    if (open.has(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' > '))
    if (open.has(file) || done.has(file)) return
    open.add(file)
    for (const target of imported.get(file) ?? []) visit(target, [...path, file])
    open.delete(file)
    done.add(file)
  }
  for (const file of imported.keys()) visit(file, [])
  expect(circles).toEqual([])
})

/** The modules that a module loads before it runs: its imports other than types, and their imports. */
function loadedBy(file: string, found = new Set<string>()): ReadonlySet<string> {
  for (const [, target = ''] of read(file).matchAll(
    /^(?:im|ex)port (?!type )[\w*,\s{}]+? from '([^']+)'/gm,
  )) {
    const name = target.startsWith('.') ? join(dirname(file), target) : target
    if (found.has(name)) continue
    found.add(name)
    if (target.startsWith('.')) loadedBy(name, found)
  }
  return found
}

test('no command loads the server or the schemas before it needs them: it starts often, and may be refused', () => {
  const heavy = ['fastify', 'undici', '@benefit-enrolment/contract']
  // They serve, or check members by the schema of a request.
  const needed = ['console.ts', 'sandbox/dev.ts', 'operator/import.ts'].map(file => `${source}/cli/${file}`)
  const commands = production.filter(file => file.startsWith(`${source}/cli/`))
  const heavyCommands = commands.filter(file => heavy.some(library => loadedBy(file).has(library)))
  expect(heavyCommands.sort()).toEqual(needed.sort())
  expect(heavy.filter(library => !loadedBy(`${source}/service.ts`).has(library))).toEqual([])
  expect([...loadedBy(`${source}/main.ts`)].filter(name => heavy.includes(name))).toEqual([])
})

test.each([
  ['ARCHITECTURE.md', 60],
  ['docs/internals.md', 20],
])('%s names only files that exist', (document, least) => {
  const named = [...read(document).matchAll(/`([\w./-]+\.(?:ts|mjs|sh|html|json|sql))`/g)].map(
    ([, name = '']) => name,
  )
  expect(named.length).toBeGreaterThan(least)
  const isThere = (name: string) => everything.some(file => file === name || file.endsWith(`/${name}`))
  expect(named.filter(name => !isThere(name))).toEqual([])
})

test('ARCHITECTURE.md is one page: it names each folder of the service once, and each package that we depend on', () => {
  const page = read('ARCHITECTURE.md')
  expect(page.split('\n').length).toBeLessThan(142)
  const picture = page.split('```')[1] ?? ''
  const words = picture.split('\n').flatMap(line => /^(?:\S+ )+/.exec(line)?.[0].trim().split(' ') ?? [])
  const folders = [
    ...new Set(production.map(placeOf).filter(place => !place.includes('.'))),
    'main.ts',
    'service.ts',
  ]
  expect(words.toSorted()).toEqual(folders.toSorted())
  const packages = ['', 'contract/', 'client/', 'cli/', 'embed/', 'embedded-postgres/', 'service/'].flatMap(
    folder => {
      const { dependencies, devDependencies } = JSON.parse(read(`${folder}package.json`))
      return Object.keys({ ...dependencies, ...devDependencies })
    },
  )
  const ours = /^@benefit-enrolment\/|^@types\/|^react-dom$/
  const table = page.slice(page.indexOf('## Dependencies')).toLowerCase()
  const shortName = (name: string) => name.replace(/^@(?:biomejs|seriousme)\//, '')
  expect(packages.length).toBeGreaterThan(20)
  expect(packages.filter(name => !ours.test(name) && !table.includes(shortName(name)))).toEqual([])
})

test('the picture in ARCHITECTURE.md is in the order of the arrows: they lead down, or along a line', () => {
  const picture = read('ARCHITECTURE.md').split('```')[1] ?? ''
  const lineOf = new Map(
    picture.split('\n').flatMap((line, index) => {
      const places = /^(?:\S+ )+/.exec(line)?.[0].trim().split(' ') ?? []
      return places.map(place => [place, index] as const)
    }),
  )
  const between = ({ from, to }: (typeof arrows)[number]) => `${from} > ${to}`
  const upward = arrows.filter(arrow => {
    const [above, below] = [lineOf.get(arrow.from), lineOf.get(arrow.to ?? '')]
    return above !== undefined && below !== undefined && above > below
  })
  expect([...new Set(upward.map(between))]).toEqual([])
})

test('the paths in ARCHITECTURE.md name each file in full, or after a file of the same folder', () => {
  const paths =
    read('ARCHITECTURE.md')
      .split('\n## ')
      .find(part => part.startsWith('The paths')) ?? ''
  const named = [...paths.matchAll(/`([\w./-]+\.ts)`/g)].map(([, name = '']) => name)
  expect(named.length).toBeGreaterThan(60)
  let folder = ''
  const lost = named.filter(name => {
    const places = name.includes('/') ? [`${source}/${name}`, name] : [`${folder}/${name}`]
    const found = places.find(place => everything.includes(place))
    if (found !== undefined) folder = dirname(found)
    return found === undefined
  })
  expect(lost).toEqual([])
})

test('what tests share registers no hook when it is loaded: a worker loads it once, for all its files', () => {
  const shared = tracked.filter(file => /(^tests|\/test)\/.*\.ts$/.test(file) && !file.endsWith('.test.ts'))
  expect(shared.length).toBeGreaterThan(80)
  expect(shared.filter(file => /^(before|after)(All|Each)\(/m.test(read(file)))).toEqual([])
})

describe('the code', () => {
  test('keeps to files of 250 lines, of 400 outside the packages, and of 600 where they hold tests', () => {
    const isTest = (file: string) => /\.test\.ts$|^tests\//.test(file)
    const isProduct = (file: string) =>
      /^(contract|client|cli|embed|embedded-postgres|service)\/src\//.test(file)
    const limitOf = (file: string) => (isTest(file) ? 600 : isProduct(file) ? 250 : 400)
    const lengthOf = (file: string) => read(file).split('\n').length - 1
    expect(tracked.filter(file => lengthOf(file) > limitOf(file))).toEqual([])
  })

  test('keeps to functions of 80 lines of their own, except where a reason is listed', () => {
    const long = tracked
      .filter(file => !/\.test\.ts$|^tests\/|^embed\/released\//.test(file))
      .flatMap(file => functionsOf(read(file)).map(({ name, own }) => ({ place: `${file}: ${name}`, own })))
      .filter(({ own }) => own > 80)
    expect(long.map(({ place }) => place).sort()).toEqual(Object.keys(listedAsLongFunctions).sort())
  })

  test('declares its top-level functions; a constant holds one only where a type describes it', () => {
    const arrow =
      /^(?:export )?const (\w+) = (?:async )?(?:<[^=]*>)?(?:\w+|\((?:[^()]|\([^()]*\))*\)(?:: [^=\n]+)?) =>/gm
    const found = tracked
      .filter(file => !file.startsWith('embed/released/'))
      .flatMap(file => [...read(file).matchAll(arrow)].map(([, name]) => `${file}: ${name}`))
    expect(found).toEqual([])
  })

  test('writes the names of top-level numbers in capitals', () => {
    const number =
      /^(?:export )?const ([a-z]+[A-Z]\w*)(?:: number)? = (?:-?\d[\d_.]*(?:e\d+)?|[A-Z][A-Z0-9_]*)(?: [*+-] [\w.]+)*$/gm
    const found = tracked
      .filter(file => !file.startsWith('embed/released/'))
      .flatMap(file => [...read(file).matchAll(number)].map(([, name]) => `${file}: ${name}`))
    expect(found).toEqual([])
  })

  test('says of each export what it promises', () => {
    const products = tracked.filter(
      file =>
        /^(contract|client|cli|embed|embedded-postgres|service)\/src\/.*\.tsx?$/.test(file) &&
        !file.endsWith('.test.ts'),
    )
    // A type of the elements of a list stands below the list, which says it for both.
    const bare = products.flatMap(file =>
      [
        ...read(file).matchAll(
          /(?<=^(.*)\n)export (?:async )?(?:function\*?|const|let|class|type) (\w+)(.*)$/gm,
        ),
      ]
        .filter(
          ([, above = '', , rest = '']) =>
            !above.endsWith('*/') && !/^ = \(typeof \w+\)\[number\]$/.test(rest),
        )
        .map(([, , name]) => `${file}: ${name}`),
    )
    expect(bare).toEqual([])
  })

  test('knows no `any`, and no default export outside configuration', () => {
    const asVitestDemands = /\.config\.ts$|^tests\/(global-setup|bundle-command)\.ts$|^\.ci\/report\.mjs$/
    const found = tracked
      .filter(file => !asVitestDemands.test(file))
      .filter(file => /(?:[:<|,]|\bas)\s*any\s*[[\],;)>=|]|^export default\b/m.test(read(file)))
    expect(found).toEqual([])
  })
})
