import type { Member } from '../member.js'
import type { Fault } from './fault.js'

/** Each process is killed, told to end, and stopped for a while as if its machine hung. */
export function processFaults(members: readonly Member[]): Fault[] {
  return members.flatMap((member) => {
    const target = member.name
    const again = async (): Promise<number> => {
      await member.start()
      return 1
    }
    const of = (kind: string, inject: Fault['inject']): Fault => ({
      kind,
      name: `${kind} of ${target}`,
      target,
      inject
    })
    return [
      of('SIGKILL', async () => {
        await member.kill()
        return again
      }),
      of('SIGTERM', async () => {
        await member.terminate()
        return again
      }),
      of('SIGSTOP', () => {
        member.freeze()
        return Promise.resolve(() => {
          member.thaw()
          return Promise.resolve(1)
        })
      })
    ]
  })
}
