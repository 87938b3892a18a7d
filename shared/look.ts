/**
 * The look of every page: of the gateway's own, of the admin, and of the shop of the reference store. A package that makes
 * pages takes it from `uniform-rest/look`.
 */
const LIGHT = {
  paper: '#f8f5ef',
  card: '#fffdf9',
  ink: '#1c2a2b',
  quiet: '#566466',
  line: '#e0d9cb',
  accent: '#0f5c5a',
  'accent-strong': '#0a4543',
  'on-accent': '#ffffff',
  tint: '#e3eeea',
  warm: '#96480a',
  bad: '#a3231f',
  'bad-tint': '#fbe9e6'
} as const

type Colours = Readonly<Record<keyof typeof LIGHT, string>>

const DARK: Colours = {
  paper: '#121a1b',
  card: '#1b2627',
  ink: '#ecebe4',
  quiet: '#a5b1b0',
  line: '#304041',
  accent: '#7fd0c6',
  'accent-strong': '#a3e2da',
  'on-accent': '#07302e',
  tint: '#203334',
  warm: '#f0b06a',
  bad: '#ffa79d',
  'bad-tint': '#3d2322'
}

/** For code that computes with colours, such as a theme. Texts in `ink`, `quiet` and `accent` are legible on all surfaces. */
export const COLOURS: { readonly light: Colours; readonly dark: Colours } = { light: LIGHT, dark: DARK }

export const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Liberation Sans', sans-serif"

function properties(colours: Colours): string {
  return Object.entries(colours)
    .map(([name, value]) => `--${name}: ${value};`)
    .join(' ')
}

/** The same as custom properties of CSS, `var(--ink)`. The browser's or the system's choice of dark or light decides. */
export const LOOK = `:root { color-scheme: light dark; --sans: ${FONT}; --round: 14px; ${properties(LIGHT)} }
@media (prefers-color-scheme: dark) { :root { ${properties(DARK)} } }
`
