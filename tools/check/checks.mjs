/** What `npm run check` looks at, beside the types that compiling has checked already. */
export const CHECKS = /** @type {const} */ ([
  { name: 'types of the tools', args: ['node_modules/typescript/bin/tsc', '-p', 'tools'] },
  { name: 'types of the admin', args: ['node_modules/typescript/bin/tsc', '-p', 'clients/admin'] },
  { name: 'lint', args: ['node_modules/oxlint/bin/oxlint', '--type-aware', '--deny-warnings'] },
  { name: 'format', args: ['node_modules/oxfmt/bin/oxfmt', '--check'] },
  { name: 'proto lint', args: ['node_modules/@bufbuild/buf/bin/buf', 'lint'] }
])
