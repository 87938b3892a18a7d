import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { unknownSettings } from '../../cli/application/unknown-settings.js'
import { outbox } from '../../examples/store/outbox.js'
import { SETTING_NAMES } from '../../shared/settings.js'
import { runCommand } from '../harness/command.js'

const NOTHING = { environment: {}, dotEnv: {}, application: undefined }

function named(names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name) => [name, 'x']))
}

describe('names that are no settings', () => {
  const settings = named(SETTING_NAMES)

  it('are not among the settings themselves', () => {
    const application = { settings }
    expect(unknownSettings({ environment: settings, dotEnv: settings, application })).to.deep.equal([])
  })

  it('of an application are told all', () => {
    const application = { settings: named(['PAGE_SIZE_LIMIT', 'GATEWAY_PORT']) }
    expect(unknownSettings({ ...NOTHING, application })).to.deep.equal([
      'The `settings` of the application hold PAGE_SIZE_LIMIT, and there is no such setting.'
    ])
  })

  it('are not those that an application itself names', () => {
    const application = { settings: {}, outbox }
    const environment = named(['ORDER_WEBHOOK_URL', 'ORDER_WEBHOOK_SECRET', 'ORDER_WEBHOOK_SECRETT'])
    const told =
      'The environment holds ORDER_WEBHOOK_SECRETT, and there is no such setting. Did you mean "ORDER_WEBHOOK_SECRET"?'
    expect(unknownSettings({ ...NOTHING, environment, application })).to.deep.equal([told])
  })

  it('of .env are told where they begin like a setting, or are misspelt ones', () => {
    const foreign = ['HTTP_PROXY', 'OTEL_LOGS_EXPORTER', 'COMPOSE_PROJECT_NAME', 'SMTP_PASSWORD', 'NODE_OPTIONS', 'TZ']
    const dotEnv = named(['GATEWAY_PROT', 'DATABSE_URL', 'JWT_SECRET', ...foreign])
    expect(unknownSettings({ ...NOTHING, dotEnv })).to.deep.equal([
      'The file .env holds GATEWAY_PROT, and there is no such setting. Did you mean "GATEWAY_PORT"?',
      'The file .env holds DATABSE_URL, and there is no such setting. Did you mean "DATABASE_URL"?',
      'The file .env holds JWT_SECRET, and there is no such setting.'
    ])
  })

  it('of the environment are told where they are misspelt settings alone', () => {
    const foreign = ['GATEWAY_INTERFACE', 'DATABASE_NAME', 'ADMIN_ID', 'HTTP_PROXY', 'PATH', 'JWT_SECRET']
    const environment = named(['GATEWAY_PROT', 'LOG_LEVELS', ...foreign])
    expect(unknownSettings({ ...NOTHING, environment })).to.deep.equal([
      'The environment holds GATEWAY_PROT, and there is no such setting. Did you mean "GATEWAY_PORT"?',
      'The environment holds LOG_LEVELS, and there is no such setting. Did you mean "LOG_LEVEL"?'
    ])
  })

  it('are told when a process starts, once, and keep nothing from starting', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'unknown-'))
    try {
      await writeFile(join(folder, '.env'), 'GATEWAY_PROT=3001\n')
      const command = ['start', 'gateway', '--print-config']
      const { code, stdout, stderr } = await runCommand(command, { directory: folder, env: { LOG_LEVELS: 'debug' } })
      expect([code, stderr]).to.deep.equal([
        0,
        'The file .env holds GATEWAY_PROT, and there is no such setting. Did you mean "GATEWAY_PORT"?\n' +
          'The environment holds LOG_LEVELS, and there is no such setting. Did you mean "LOG_LEVEL"?\n'
      ])
      expect(stdout).to.include('GATEWAY_PORT=3000\n')
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
})
