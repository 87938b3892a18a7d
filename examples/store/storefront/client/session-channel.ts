/** Tells the other tabs that somebody signed in or out; nothing of who. */
export const sessionChannel = new BroadcastChannel('session')

export function tellOtherTabs(): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel is of one origin
  sessionChannel.postMessage('changed')
}
