import { type ReactElement, type ReactNode, useState } from 'react'
import { MenuItem, Typography } from '@mui/material'
import {
  AppBar,
  defaultDarkTheme,
  defaultLightTheme,
  Layout,
  Logout,
  type RaThemeOptions,
  Title,
  TitlePortal,
  useGetIdentity,
  UserMenu,
  useUserMenu
} from 'react-admin'
import type { Catalogue } from './catalogue.js'
import { AdminMenu } from './menu.js'
import { PasswordDialog } from './password.js'

/** Whose password is changed, and the pages that are there for some callers. */
interface Frame {
  /** That of the API, without a slash at its end. */
  readonly baseUrl: string
  readonly catalogue: () => Catalogue
  readonly hasOverview: () => boolean
  readonly hasAccounts: () => boolean
}

/** The frame of every page: menu, title and the way out. */
export function layoutWith({
  baseUrl,
  catalogue,
  hasOverview,
  hasAccounts
}: Frame): (props: { readonly children?: ReactNode }) => ReactElement {
  const PageMenu = (): ReactElement => (
    <AdminMenu catalogue={catalogue()} hasOverview={hasOverview()} hasAccounts={hasAccounts()} />
  )
  const UserAccount = (): ReactElement => <Account baseUrl={baseUrl} />
  /** The title of a page is its heading of the first level, for those who go by headings. */
  const AdminBar = (): ReactElement => (
    <AppBar userMenu={<UserAccount />}>
      <TitlePortal component="h1" />
    </AppBar>
  )
  return ({ children }) => (
    <Layout appBar={AdminBar} menu={PageMenu}>
      {children}
    </Layout>
  )
}

/** In the place of a page that is not there for the caller, who is not told whether it is there for others. */
export function NothingHere(): ReactElement {
  return (
    <>
      <Title title="Not found" />
      <Typography role="status" sx={{ padding: 2 }}>
        There is no such page, or you may not see it.
      </Typography>
    </>
  )
}

/** The button shows a name, with which what it is called has to begin. */
function Account({ baseUrl }: Pick<Frame, 'baseUrl'>): ReactElement {
  const { data } = useGetIdentity()
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <UserMenu label={`${data?.fullName ?? ''}: account`}>
        <PasswordItem onOpen={() => setOpen(true)} />
        <Logout />
      </UserMenu>
      {isOpen && <PasswordDialog baseUrl={baseUrl} onClose={() => setOpen(false)} />}
    </>
  )
}

function PasswordItem({ onOpen }: { readonly onOpen: () => void }): ReactElement {
  const { onClose } = useUserMenu() ?? {}
  const open = (): void => {
    onClose?.()
    onOpen()
  }
  return <MenuItem onClick={open}>Change the password</MenuItem>
}

/** Dark enough under white text, and on white (WCAG 2.2, 1.4.3: a contrast of 4.5). */
const BLUE = '#1565c0'
/** Light enough on what is nearly black. */
const LIGHT_BLUE = '#90caf9'

/** The same for what deletes: that of Material UI has a contrast of 3.5. */
const LIGHT_RED = '#ff8a80'

function themeOf(base: RaThemeOptions, blue: string, red?: string): RaThemeOptions {
  return {
    ...base,
    palette: {
      ...base.palette,
      primary: { main: blue },
      secondary: { main: BLUE },
      ...(red === undefined ? {} : { error: { main: red } })
    },
    components: {
      ...base.components,
      MuiCircularProgress: { defaultProps: { 'aria-label': 'Loading' } },
      // What stands in place of a reference until its name is there.
      MuiLinearProgress: { defaultProps: { 'aria-label': 'Loading' } }
    },
    // Those of the system, so that nothing is loaded from elsewhere.
    typography: {
      fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
      button: { textTransform: 'none' }
    }
  }
}

/** The usual look of react-admin, light or dark as the system is until somebody chooses. */
export const theme = themeOf(defaultLightTheme as RaThemeOptions, BLUE)
export const darkTheme = themeOf(defaultDarkTheme as RaThemeOptions, LIGHT_BLUE, LIGHT_RED)
