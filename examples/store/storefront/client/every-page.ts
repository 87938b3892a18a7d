import { sessionChannel } from './session-channel.js'

// A page that comes back out of the browser's memory may show somebody who has signed out since.
window.addEventListener('pageshow', (event) => {
  if (event.persisted) location.reload()
})
sessionChannel.addEventListener('message', () => location.reload())
