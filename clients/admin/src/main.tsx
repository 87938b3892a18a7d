import createCache from '@emotion/cache'
import { CacheProvider } from '@emotion/react'
import { createRoot } from 'react-dom/client'
import { makeApplication } from './application.js'

const root = document.querySelector('#root')
if (root === null) throw new Error('The page has no place for the admin.')
// The page allows no styles but those with its nonce, which the gateway wrote beside its one script.
const nonce = document.querySelector<HTMLScriptElement>('script[nonce]')?.nonce ?? ''
const styles = createCache({ key: 'admin', nonce, prepend: true })
// The page is `/admin/` below the base of the API.
const baseUrl = location.origin + location.pathname.replace(/\/admin\/$/, '')

createRoot(root).render(<CacheProvider value={styles}>{makeApplication(baseUrl)}</CacheProvider>)
