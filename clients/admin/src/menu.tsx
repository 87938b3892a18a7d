import { Box, createSvgIcon, TextField, Typography } from '@mui/material'
import { type ReactElement, useState } from 'react'
import { Menu, useSidebarState } from 'react-admin'
import type { Catalogue, Resource } from './catalogue.js'
import { inWords } from './words.js'

const Person = createSvgIcon(
  <path d="M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zm0 2c-2.7 0-8 1.3-8 4v2h16v-2c0-2.7-5.3-4-8-4z" />,
  'Person'
)
/** From so many resources on the menu is searched faster than it is read. */
const SEARCHED_FROM = 12

interface AdminMenuProps {
  readonly catalogue: Catalogue
  readonly hasOverview: boolean
  readonly hasAccounts: boolean
}

/** The pages that the caller may open: by group, and found by a part of their name. */
export function AdminMenu({ catalogue, hasOverview, hasAccounts }: AdminMenuProps): ReactElement {
  const [isOpen] = useSidebarState()
  const [text, setText] = useState('')
  const listed = catalogue.resources.filter(({ name }) => catalogue.allows(name, 'paged'))
  const sought = text.trim().toLowerCase()
  const found = listed.filter(({ name }) => inWords(name).toLowerCase().includes(sought))
  const isSought = sought !== ''
  return (
    <Box sx={isOpen ? WHOLE_NAMES : {}}>
      {isOpen && listed.length >= SEARCHED_FROM && (
        <TextField
          type="search"
          size="small"
          label="Find a page"
          value={text}
          onChange={(event) => setText(event.target.value)}
          sx={{ m: 1, width: 'calc(100% - 16px)' }}
        />
      )}
      {hasOverview && !isSought && (
        <Menu aria-label="First page">
          <Menu.DashboardItem primaryText="Overview" />
        </Menu>
      )}
      {found.length > 0 && (
        <Menu aria-label="Pages">
          {found.map((resource) => (
            <Menu.ResourceItem key={resource.name} name={resource.name} leftIcon={<Letters resource={resource} />} />
          ))}
        </Menu>
      )}
      {isSought && found.length === 0 && (
        <Typography role="status" sx={{ p: 2 }}>
          No page has this in its name.
        </Typography>
      )}
      {hasAccounts && !isSought && (
        <Menu aria-label="Accounts">
          <Menu.Item to="/accounts" primaryText="Accounts" leftIcon={<Person />} />
        </Menu>
      )}
    </Box>
  )
}

/** A long name takes more lines, since its end may be what tells it from another. */
const WHOLE_NAMES = { '& a .MuiTypography-root': { whiteSpace: 'normal', overflowWrap: 'break-word' } } as const

/** In place of an icon, so that pages differ where the menu is narrow. */
function Letters({ resource }: { readonly resource: Resource }): ReactElement {
  const [first = '', second] = resource.name.split('-')
  const letters = `${first.charAt(0)}${(second ?? first.slice(1)).charAt(0)}`
  return <Box aria-hidden data-letters={inWords(letters)} sx={LETTERS} />
}

/** Generated, so that the letters are no part of what the page is called. */
const LETTERS = {
  width: 24,
  height: 24,
  lineHeight: '24px',
  borderRadius: 1,
  fontSize: '0.75rem',
  fontWeight: 600,
  textAlign: 'center',
  bgcolor: 'action.selected',
  '&::before': { content: 'attr(data-letters)' }
} as const
