import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { status } from '@grpc/grpc-js'
import { expect } from 'chai'
import { ERROR_CODES, type ErrorCode, errorKind } from '../../shared/errors.js'
import { packageRoot } from '../harness/package-root.js'

const document = readFileSync(join(packageRoot, 'docs/errors.md'), 'utf8')

/** A row of the table: `409, guarded 412` for the one code whose status depends on the route (contract.md section 7). */
function row(code: ErrorCode): string {
  const { http, guarded, grpc, meaning } = errorKind(code)
  const anchor = code.replaceAll('.', '')
  const statuses = guarded === undefined ? String(http) : `${http}, guarded ${guarded.http}`
  return `| [\`${code}\`](#${anchor}) | ${statuses} | ${status[grpc]} | ${meaning} |`
}

describe('docs/errors.md', () => {
  it('has the table of shared/errors.ts, row by row', () => {
    const rows = document.split('\n').filter((line) => line.startsWith('| [`'))
    expect(rows).to.deep.equal(ERROR_CODES.map(row))
  })

  it('says of each code what the table says to do about it', () => {
    const [, remedies = ''] = document.split('\n# What to do about each\n')
    expect(remedies.trim().split('\n\n')).to.deep.equal(
      ERROR_CODES.map((code) => `## ${code}\n${errorKind(code).remedy}`)
    )
  })
})
