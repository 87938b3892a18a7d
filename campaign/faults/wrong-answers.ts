import type { Link } from '../link.js'
import type { Fault } from './fault.js'
import { broken } from './links.js'

/** What a server of HTTP says that has lost its mind: an error, what is no HTTP, and 200 with a body that is not asked for. */
const ANSWERS = {
  'answers 500':
    'HTTP/1.1 500 Internal Server Error\r\ncontent-type: text/plain\r\ncontent-length: 6\r\nconnection: close\r\n\r\nbroken',
  'answers no HTTP': '\u0000\u0001\u0002 this is no HTTP\r\n\r\n',
  'answers something else':
    'HTTP/1.1 200 OK\r\ncontent-type: text/html\r\netag: "x"\r\ncontent-length: 13\r\nconnection: close\r\n\r\n<p>proxy</p>\r'
} as const

/** What a service answers that rejects its caller, or has no time for it. */
const REJECTIONS = {
  'answers 403': 'HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n',
  'answers 429': 'HTTP/1.1 429 Too Many Requests\r\nretry-after: 3600\r\ncontent-length: 0\r\nconnection: close\r\n\r\n'
} as const

/** The server of a link answers what it must not. */
export function wrongAnswers(links: readonly Link[]): Fault[] {
  return answering(links, ANSWERS)
}

/** The server of a link rejects whatever it is asked. */
export function rejections(links: readonly Link[]): Fault[] {
  return answering(links, REJECTIONS)
}

function answering(links: readonly Link[], answers: Readonly<Record<string, string>>): Fault[] {
  return links.flatMap((link) =>
    Object.entries(answers).map(([kind, answer]) => ({
      kind,
      name: `${kind}, ${link.name}`,
      target: link.name,
      inject: () =>
        broken(link, (hit) => () => async (bytes, passage) => {
          if (passage.from === 'server') {
            hit()
            passage.cut(Buffer.from(answer, 'latin1'))
          } else await passage.pass(bytes)
        })
    }))
  )
}
