import { bool, createTables, dateTime, freeText, int, type Migration, money, optional, table, text } from 'uniform-rest'

export const createVenues: Migration = {
  name: '020-venues',
  up: createTables(
    table('venues', {
      columns: { id: int(), name: text(200), city: text(200), capacity: int(), isOpen: bool() },
      sorted: ['name', 'city', 'capacity', 'isOpen']
    })
  )
}

export const createEvents: Migration = {
  name: '021-events',
  up: createTables(
    table('events', {
      columns: {
        id: int(),
        title: text(200),
        startsAt: dateTime(),
        endsAt: dateTime(),
        venueId: int(),
        status: text(32)
      },
      sorted: ['title', 'startsAt', 'endsAt', 'venueId', 'status'],
      references: { venueId: 'venues' }
    })
  )
}

export const createSpeakers: Migration = {
  name: '022-speakers',
  up: createTables(
    table('speakers', {
      columns: { id: int(), name: text(200), bio: optional(freeText(2000)), eventId: int(), isConfirmed: bool() },
      sorted: ['name', 'eventId'],
      references: { eventId: 'events' }
    })
  )
}

export const createTickets: Migration = {
  name: '023-tickets',
  up: createTables(
    table('tickets', {
      columns: {
        id: int(),
        eventId: int(),
        customerId: int(),
        seat: optional(text(64)),
        status: text(32),
        price: money(10, 2)
      },
      sorted: ['eventId', 'customerId', 'seat', 'status', 'price'],
      references: { eventId: 'events', customerId: 'customers' }
    })
  )
}

/** Users and sessions are kept outside of this database, so their ids are no foreign keys. */
export const createBookmarks: Migration = {
  name: '024-bookmarks',
  up: createTables(
    table('bookmarks', {
      columns: {
        id: int(),
        userId: int(),
        sessionId: int(),
        note: optional(freeText(2000)),
        createdAt: dateTime()
      },
      sorted: ['userId', 'sessionId', 'createdAt'],
      uniqueTogether: [['userId', 'sessionId']]
    })
  )
}

export const createSubscriptions: Migration = {
  name: '025-subscriptions',
  up: createTables(
    table('subscriptions', {
      columns: { id: int(), customerId: int(), plan: text(64), renewsAt: dateTime(), status: text(32) },
      sorted: ['customerId', 'plan', 'renewsAt', 'status'],
      references: { customerId: 'customers' }
    })
  )
}

export const createShoppingCarts: Migration = {
  name: '026-shopping-carts',
  up: createTables(
    table('shopping_carts', {
      columns: {
        id: int(),
        customerId: int(),
        currency: text(3),
        couponCode: optional(text(64)),
        updatedAt: dateTime(),
        orderNumber: optional(text(64))
      },
      sorted: ['customerId', 'currency', 'couponCode', 'updatedAt'],
      references: { customerId: 'customers' }
    }),
    table('shopping_cart_items', {
      columns: {
        id: int(),
        shoppingCartId: int(),
        productId: int(),
        variantId: optional(int()),
        quantity: int()
      },
      partOf: { shoppingCartId: 'shopping_carts' },
      references: { productId: 'products', variantId: 'product_variants' }
    })
  )
}
