import type { Member } from '../site.js'
import type { Fault } from './fault.js'

/** Each process is killed, told to end, and stopped for a while as if its machine hung. */
export function processFaults(members: readonly Member[]): Fault[] {
  return members.flatMap((member) => [
    {
      name: `SIGKILL of ${member.name}`,
      target: member.name,
      async inject() {
        await member.kill()
        return () => member.start()
      }
    },
    {
      name: `SIGTERM of ${member.name}`,
      target: member.name,
      async inject() {
        await member.terminate()
        return () => member.start()
      }
    },
    {
      name: `SIGSTOP of ${member.name}`,
      target: member.name,
      inject() {
        member.freeze()
        return Promise.resolve(() => Promise.resolve(member.thaw()))
      }
    }
  ])
}
