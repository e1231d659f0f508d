import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Deployment } from 'kubernetes-types/apps/v1.d.ts'
import type { ServiceSpec } from 'kubernetes-types/core/v1.d.ts'
import type { PodDisruptionBudgetSpec } from 'kubernetes-types/policy/v1.d.ts'
import { expect, test } from 'vitest'
import { ConfigError, readConfig } from '../../src/config/config.ts'
import {
  documentsOf,
  environmentOf,
  type Manifest,
  manifestFiles,
  manifests,
  selects,
} from '../support/manifests.ts'

/** The shape of docs/deployment/kubernetes; test/process/kubernetes.test.ts runs it. */

const root = join(import.meta.dirname, '..', '..')
const ofKind = <Kind extends object>(kind: string) =>
  manifests.filter((one) => one.kind === kind) as (Manifest & Kind)[]
const deployments = ofKind<Deployment>('Deployment').map(({ metadata, spec }) => {
  const pod = spec!.template.spec!
  return {
    name: metadata.name,
    spec: spec!,
    labels: spec!.template.metadata!.labels!,
    pod,
    service: pod.containers[0]!,
    containers: [...(pod.initContainers ?? []), ...pod.containers],
  }
})

test("each manifest has the fields of its kind and no others, by Kubernetes' own types", () => {
  const dir = mkdtempSync(join(root, 'node_modules', '.manifests-'))
  try {
    const lines = manifests.flatMap(({ apiVersion, kind }, index) => {
      const path = apiVersion === 'v1' ? 'core/v1' : apiVersion.replace('.k8s.io', '')
      const typed = `const m${index}: ${kind}${index} = ${JSON.stringify(manifests[index])}`
      return [
        `import type { ${kind} as ${kind}${index} } from 'kubernetes-types/${path}.d.ts'`,
        `${typed}; void m${index}`,
      ]
    })
    const file = join(dir, 'manifests.ts')
    const compile = (text: string): string => {
      writeFileSync(file, text)
      const options = [
        '--ignoreConfig',
        '--noEmit',
        '--strict',
        '--skipLibCheck',
        '--allowImportingTsExtensions',
        '--module',
        'nodenext',
        '--types',
        '',
      ]
      const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
      try {
        return execFileSync(process.execPath, [compiler, ...options, file], { encoding: 'utf8' })
      } catch (error) {
        return (error as { stdout: string }).stdout
      }
    }
    expect(compile(lines.join('\n'))).toBe('')
    expect(
      compile(lines.join('\n').replaceAll('readOnlyRootFilesystem', 'readonlyRootFilesystem')),
    ).toContain('readonlyRootFilesystem')
  } finally {
    rmSync(dir, { recursive: true })
  }
})

test('kustomization.yaml has all files but that of the secrets, and the version of this release', () => {
  const [{ resources, images }] = documentsOf('kustomization.yaml') as unknown as [
    { resources: string[]; images: { name: string; newTag: string }[] },
  ]
  const others = ['kustomization.yaml', 'secrets.example.yaml']
  expect([...resources].sort()).toEqual(
    manifestFiles()
      .filter((file) => !others.includes(file))
      .sort(),
  )
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  expect(images).toEqual([{ name: 'agent-messaging-service', newTag: version }])
  for (const { image } of deployments.flatMap(({ containers }) => containers))
    expect(image).toBe(images[0]!.name)
})

test('every selector chooses the pods of one deployment, and every port has its name there', () => {
  const choosing = [
    ...deployments.map(({ spec }) => spec.selector.matchLabels!),
    ...deployments.map(({ pod }) => pod.topologySpreadConstraints![0]!.labelSelector!.matchLabels!),
    ...ofKind<{ spec: ServiceSpec }>('Service').map(({ spec }) => spec.selector!),
    ...ofKind<{ spec: PodDisruptionBudgetSpec }>('PodDisruptionBudget').map(
      ({ spec }) => spec.selector!.matchLabels!,
    ),
    ...ofKind<{ spec: { podSelector: { matchLabels: Record<string, string> } } }>('NetworkPolicy').map(
      ({ spec }) => spec.podSelector.matchLabels,
    ),
  ]
  for (const selector of choosing)
    expect(deployments.filter(({ labels }) => selects(selector, labels))).toHaveLength(1)
  for (const { spec } of ofKind<{ spec: ServiceSpec }>('Service')) {
    const chosen = deployments.find(({ labels }) => selects(spec.selector!, labels))!
    const names = chosen.service.ports!.map(({ name }) => name)
    for (const { targetPort } of spec.ports!) expect(names).toContain(targetPort)
  }
})

test('each pod drains for as long as its readiness takes to fail, and is given 15 s more to end', () => {
  for (const { pod, service, labels } of deployments) {
    const drain = Number(service.env!.find(({ name }) => name === 'DRAIN_SECONDS')?.value ?? 0)
    const { periodSeconds, failureThreshold } = service.readinessProbe!
    const isServed = ofKind<{ spec: ServiceSpec }>('Service').some(({ spec }) =>
      selects(spec.selector!, labels),
    )
    if (isServed) expect(drain).toBeGreaterThan(periodSeconds! * failureThreshold!)
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(drain + 15)
  }
})

test('no container has more rights than it needs, or writes elsewhere than in volumes that go with the pod', () => {
  const [, uid] = /useradd --uid (\d+)/.exec(readFileSync(join(root, 'Dockerfile'), 'utf8'))!
  for (const { pod, containers } of deployments) {
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      // SMTP_PORT and the like would be set for a Service of that name.
      enableServiceLinks: false,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: Number(uid),
        seccompProfile: { type: 'RuntimeDefault' },
      },
    })
    for (const container of containers) {
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
      expect(container.resources).toMatchObject({
        requests: { memory: expect.any(String) },
        limits: { memory: expect.any(String) },
      })
      for (const { name, readOnly } of container.volumeMounts!)
        expect(
          pod.volumes!.find((volume) => volume.name === name)?.[readOnly ? 'secret' : 'emptyDir'],
        ).toBeDefined()
    }
  }
})

test('the settings are known and valid, and each placeholder of a secret is refused until it is filled in', () => {
  const filled = {
    DATABASE_URL: 'postgresql://ams@db/ams',
    MASTER_KEY: randomBytes(32).toString('base64'),
    OWNER_TOKEN: randomBytes(32).toString('hex'),
    SMTP_TLS_CERT: '',
    SMTP_TLS_KEY: '',
  }
  for (const { service } of deployments) {
    const read = readConfig({ ...environmentOf(service, {}), ...filled })
    expect(read.unknown).toEqual([])
    expect(read.objectStore).toBeDefined()
  }
  const refused = (() => {
    try {
      readConfig(environmentOf(deployments[0]!.service, {}))
    } catch (error) {
      return error as ConfigError
    }
    return null
  })()
  expect(refused).toBeInstanceOf(ConfigError)
  for (const name of ['MASTER_KEY', 'OWNER_TOKEN']) expect(refused!.message).toContain(name)
})
