import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SUPPORTED_VERSIONS } from '../../gateway/http/negotiation.js'
import { VERSIONS } from '../../shared/versions.js'
import { packageRoot } from '../harness/package-root.js'

const textOf = (path: string): string => readFileSync(join(packageRoot, path), 'utf8')

describe('versions', () => {
  const { version } = JSON.parse(textOf('package.json')) as { readonly version: string } // ours

  it('of the package is the newest of the CHANGELOG, with what its others are', () => {
    const [, newest, says] =
      /^## \[(\d+\.\d+\.\d+)\].*\n([\s\S]*?)(?=^## |$(?![\s\S]))/m.exec(textOf('CHANGELOG.md')) ?? []
    expect(newest).to.equal(version)
    const { contract, proto, vocabulary } = VERSIONS
    expect(says).to.include(`Contract ${contract}, proto ${proto}, vocabulary ${vocabulary}.`)
  })

  it('of contract and proto are those that clients see', () => {
    expect(VERSIONS.contract.split('.').slice(0, 2).join('.')).to.equal(SUPPORTED_VERSIONS)
    const [major] = VERSIONS.proto.split('.')
    for (const path of [
      'entity/v1/entity_service.proto',
      'auth/v1/auth_service.proto',
      'transport/v1/call_stream.proto'
    ]) {
      expect(textOf(`proto/${path}`), path).to.match(new RegExp(`^package [a-z.]+\\.v${major};$`, 'm'))
    }
  })

  it('are printed on their page as the command prints them', () => {
    const lines = [`uniform-rest ${version}`, ...Object.entries(VERSIONS).map((one) => one.join(' '))]
    expect(textOf('docs/versions.md')).to.include(`\`\`\`text\n${lines.join('\n')}\n\`\`\``)
  })
})

describe('docs/your-own-application.md', () => {
  it('explains every member of the config, and every command', () => {
    const page = textOf('docs/your-own-application.md')
    const [, members = ''] =
      /^const APPLICATION = .*\(\{\n([\s\S]*?)^\}\)/m.exec(textOf('cli/public/application.ts')) ?? []
    const named = Array.from(members.matchAll(/^ {2}(\w+):/gm), ([, name]) => name)
    expect(named).to.include.members(['entities', 'settings'])
    expect(named.filter((name) => !page.includes(`\n| \`${name}\` |`))).to.deep.equal([])
    const [, table = ''] = /^const COMMANDS[^\n]*\{\n([\s\S]*?)^\}/m.exec(textOf('cli/commands.ts')) ?? []
    const commands = Array.from(table.matchAll(/^ {2}'?([\w-]+)'?: \{$/gm), ([, name]) => name)
    expect(commands).to.include.members(['init', 'start'])
    expect(commands.filter((name) => !new RegExp(`^\\| \`${name}\\b`, 'm').test(page))).to.deep.equal([])
  })
})
