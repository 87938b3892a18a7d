import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { status } from '@grpc/grpc-js'
import { expect } from 'chai'
import { PROBLEM_KINDS } from '../../gateway/http/problem-details.js'
import { ERROR_CODES, type ErrorCode, GRPC_STATUS } from '../../shared/errors.js'
import { packageRoot } from '../harness/package-root.js'

const document = readFileSync(join(packageRoot, 'docs/errors.md'), 'utf8')
const rows = Array.from(
  document.matchAll(/^\| \[`([^`]+)`\]\(#[^)]*\) \| ([^|]+) \| ([A-Z_]+) \| ([^|]+) \|$/gm),
  ([, code = '', http = '', grpc = '']) => ({ code, http, grpc })
)

/** `409, guarded 412` for the one code whose status depends on the route (contract.md section 7). */
function httpColumn(code: ErrorCode): string {
  return code === 'conflict' ? '409, guarded 412' : String(PROBLEM_KINDS[code].status)
}

describe('docs/errors.md', () => {
  it('has a row for each code, in the order of the catalogue, and no other', () => {
    expect(rows.map(({ code }) => code)).to.deep.equal([...ERROR_CODES])
  })

  it('explains each code', () => {
    const explained = Array.from(document.matchAll(/^## (.+)\n\S/gm), ([, code]) => code)
    expect(explained).to.deep.equal([...ERROR_CODES])
  })

  it('shows the statuses that are sent', () => {
    expect(rows).to.deep.equal(
      ERROR_CODES.map((code) => ({ code, http: httpColumn(code), grpc: status[GRPC_STATUS[code]] }))
    )
  })
})
