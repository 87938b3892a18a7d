import { join } from 'node:path'

/** Where a private server lives. */
export interface ServerPlace {
  readonly folder: string
  readonly port: number
}

/** The server's command line: nothing of the machine's own configuration, loopback only, speed before durability. */
export function serverArguments({ folder, port }: ServerPlace): string[] {
  return [
    '--no-defaults',
    ...asRoot(),
    `--datadir=${join(folder, 'data')}`,
    `--socket=${join(folder, 'socket')}`,
    `--pid-file=${join(folder, 'pid')}`,
    `--init-file=${join(folder, 'init.sql')}`,
    '--bind-address=127.0.0.1',
    `--port=${port}`,
    '--skip-name-resolve',
    '--character-set-server=utf8mb4',
    // Not the service's zone: a session that does not set its own shows in any test that lets the server tell the time.
    '--default-time-zone=+05:30',
    '--max-connections=500',
    '--skip-log-bin',
    '--innodb-flush-log-at-trx-commit=2',
    '--innodb-buffer-pool-size=256M',
    '--innodb-log-file-size=64M',
    // Off until a test sets it; in a table, a test finds the statements of its own connections.
    '--general-log=OFF',
    '--log-output=TABLE'
  ]
}

/** MariaDB refuses to run as root unless told so. */
export function asRoot(): string[] {
  return process.getuid?.() === 0 ? ['--user=root'] : []
}
