import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { root } from '../command/process.ts'

type Manifest = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: { readonly name: string }
  readonly data?: Readonly<Record<string, string>>
  readonly spec?: { readonly template?: { readonly spec: PodSpec } }
}
type PodSpec = {
  readonly securityContext: object
  readonly terminationGracePeriodSeconds?: number
  readonly containers: readonly {
    readonly image: string
    readonly args: readonly string[]
    readonly securityContext: object
  }[]
}

const folder = join(root, 'deploy/kubernetes')
const files = readdirSync(folder).filter(name => name !== 'kustomization.yaml')
const manifests = files.flatMap(name =>
  parseAllDocuments(readFileSync(join(folder, name), 'utf8')).map(document => document.toJS() as Manifest),
)

test('each manifest has the fields of its kind, and no other', () => {
  const place = mkdtempSync(join(tmpdir(), 'enrolment-kubernetes-'))
  onTestFinished(() => rmSync(place, { recursive: true, force: true }))
  symlinkSync(join(root, 'node_modules'), join(place, 'node_modules'))
  const lines = manifests.map((manifest, index) => {
    const module = manifest.apiVersion.includes('/') ? manifest.apiVersion : `core/${manifest.apiVersion}`
    const type = `import('kubernetes-types/${module.replace('.k8s.io', '')}').${manifest.kind}`
    return `export const manifest${index}: ${type} = ${JSON.stringify(manifest)}`
  })
  writeFileSync(join(place, 'manifests.ts'), lines.join('\n'))
  const options = [
    '--noEmit',
    '--strict',
    '--module',
    'esnext',
    '--moduleResolution',
    'bundler',
    '--types',
    '',
  ]
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const words = [tsc, ...options, join(place, 'manifests.ts')]
  expect(execFileSync(process.execPath, words, { cwd: place, encoding: 'utf8' })).toBe('')
})

test('no pod may gain rights, and the service takes its settings', () => {
  const pods = manifests.flatMap(({ spec }) => spec?.template?.spec ?? [])
  expect(pods.map(({ containers }) => containers[0]?.args)).toEqual([['console'], ['migrate'], ['serve']])
  for (const pod of pods)
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          },
        },
      ],
    })
  const settings = manifests.find(({ kind }) => kind === 'ConfigMap')?.data ?? {}
  const known = readFileSync(join(root, 'docs/operating.md'), 'utf8')
  expect(Object.keys(settings).filter(name => !known.includes(`\`${name}\``))).toEqual([])
  // What it accepted is answered within 14 seconds after that.
  const grace = pods.at(-1)?.terminationGracePeriodSeconds ?? 0
  expect(grace).toBeGreaterThan(Number(settings['ENROLMENT_DRAIN_SECONDS']) + 14)
})

test('all files are listed, but for the job, which goes first', () => {
  const listed = parseAllDocuments(readFileSync(join(folder, 'kustomization.yaml'), 'utf8'))[0]?.toJS() as {
    resources: string[]
  }
  expect([...listed.resources, 'migrate.yaml'].sort()).toEqual([...files].sort())
})
