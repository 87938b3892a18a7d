-- primary 005-idempotency-keys
CREATE TABLE IF NOT EXISTS `idempotency_keys` (`key_hash` BLOB NOT NULL PRIMARY KEY, `fingerprint` BLOB NOT NULL, `answer` BLOB, `created_at` INTEGER NOT NULL, `expires_at` INTEGER NOT NULL) STRICT;
CREATE INDEX IF NOT EXISTS `idempotency_keys_expires_at` ON `idempotency_keys` (`expires_at`, `key_hash`);
-- primary 006-audit-entries
CREATE TABLE IF NOT EXISTS `audit_entries` (`id` INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, `at` TEXT NOT NULL, `subject` TEXT NOT NULL, `resource` TEXT NOT NULL, `row_id` TEXT NOT NULL, `action` TEXT NOT NULL, `row_version` BLOB NOT NULL) STRICT;
CREATE INDEX IF NOT EXISTS `audit_entries_at` ON `audit_entries` (`at`, `id`);
CREATE INDEX IF NOT EXISTS `audit_entries_at_desc` ON `audit_entries` (`at` DESC, `id`);
CREATE INDEX IF NOT EXISTS `audit_entries_subject` ON `audit_entries` (sort_key(`subject`), `id`);
CREATE INDEX IF NOT EXISTS `audit_entries_subject_desc` ON `audit_entries` (sort_key(`subject`) DESC, `id`);
CREATE INDEX IF NOT EXISTS `audit_entries_resource` ON `audit_entries` (sort_key(`resource`), `id`);
CREATE INDEX IF NOT EXISTS `audit_entries_resource_desc` ON `audit_entries` (sort_key(`resource`) DESC, `id`);
CREATE INDEX IF NOT EXISTS `audit_entries_row_id` ON `audit_entries` (sort_key(`row_id`), `id`);
CREATE INDEX IF NOT EXISTS `audit_entries_row_id_desc` ON `audit_entries` (sort_key(`row_id`) DESC, `id`);
CREATE INDEX IF NOT EXISTS `audit_entries_action` ON `audit_entries` (sort_key(`action`), `id`);
CREATE INDEX IF NOT EXISTS `audit_entries_action_desc` ON `audit_entries` (sort_key(`action`) DESC, `id`);
-- primary 007-accounts
CREATE TABLE IF NOT EXISTS `accounts` (`id` INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, `email_key` BLOB NOT NULL UNIQUE, `email` TEXT NOT NULL, `name` TEXT NOT NULL, `password_hash` TEXT NOT NULL, `role` TEXT NOT NULL, `owner` INTEGER, `is_sample` INTEGER NOT NULL, `created_at` INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS `login_attempts` (`key_hash` BLOB NOT NULL PRIMARY KEY, `attempts` TEXT NOT NULL, `expires_at` INTEGER NOT NULL) STRICT;
CREATE INDEX IF NOT EXISTS `login_attempts_expires_at` ON `login_attempts` (`expires_at`, `key_hash`);
-- primary 008-sessions
CREATE TABLE IF NOT EXISTS `refresh_families` (`id` BLOB NOT NULL PRIMARY KEY, `account_id` INTEGER NOT NULL REFERENCES `accounts` (`id`) ON DELETE CASCADE, `created_at` INTEGER NOT NULL, `ends_at` INTEGER NOT NULL, `revoked_at` INTEGER, `expires_at` INTEGER NOT NULL) STRICT;
CREATE INDEX IF NOT EXISTS `refresh_families_account_id` ON `refresh_families` (`account_id`);
CREATE INDEX IF NOT EXISTS `refresh_families_expires_at` ON `refresh_families` (`expires_at`, `id`);
CREATE TABLE IF NOT EXISTS `refresh_tokens` (`token_hash` BLOB NOT NULL PRIMARY KEY, `family_id` BLOB NOT NULL REFERENCES `refresh_families` (`id`) ON DELETE CASCADE, `issued_at` INTEGER NOT NULL, `expires_at` INTEGER NOT NULL, `used_at` INTEGER, `successor` BLOB) STRICT;
CREATE INDEX IF NOT EXISTS `refresh_tokens_family_id` ON `refresh_tokens` (`family_id`);
-- primary 030-audit-request-id
ALTER TABLE `audit_entries` ADD COLUMN `request_id` TEXT;
CREATE INDEX IF NOT EXISTS `audit_entries_request_id` ON `audit_entries` (sort_key(`request_id`), `id`);
-- primary 033-look-up-guards
-- primary 034-family-refs
ALTER TABLE `refresh_families` ADD COLUMN `ref_hash` BLOB;
ALTER TABLE `refresh_tokens` ADD COLUMN `purge_at` INTEGER;
CREATE UNIQUE INDEX IF NOT EXISTS `refresh_families_ref_hash_unique` ON `refresh_families` (`ref_hash`);
CREATE INDEX IF NOT EXISTS `refresh_tokens_purge_at` ON `refresh_tokens` (`purge_at`, `token_hash`);
-- primary 050-account-claims
ALTER TABLE `accounts` ADD COLUMN `roles` TEXT;
ALTER TABLE `accounts` ADD COLUMN `claims` TEXT;
-- primary 051-account-sessions
ALTER TABLE `accounts` ADD COLUMN `disabled_at` INTEGER;
ALTER TABLE `accounts` ADD COLUMN `session_generation` INTEGER;
ALTER TABLE `refresh_families` ADD COLUMN `session_generation` INTEGER;
-- primary 053-account-links
CREATE TABLE IF NOT EXISTS `account_links` (`identity_key` BLOB NOT NULL PRIMARY KEY, `account_id` INTEGER NOT NULL REFERENCES `accounts` (`id`) ON DELETE CASCADE, `issuer` TEXT NOT NULL, `subject` TEXT NOT NULL, `created_at` INTEGER NOT NULL) STRICT;
CREATE INDEX IF NOT EXISTS `account_links_account_id` ON `account_links` (`account_id`);
-- primary 054-outbox
CREATE TABLE IF NOT EXISTS `outbox` (`id` INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, `event_id` TEXT NOT NULL UNIQUE, `type` TEXT NOT NULL, `resource` TEXT NOT NULL, `row_id` TEXT NOT NULL, `request_id` TEXT NOT NULL, `payload` TEXT NOT NULL, `occurred_at` INTEGER NOT NULL, `aggregate_key` BLOB, `due_at` INTEGER, `lease` BLOB, `attempts` INTEGER NOT NULL, `last_error` TEXT, `delivered_at` INTEGER, `dead_at` INTEGER) STRICT;
CREATE INDEX IF NOT EXISTS `outbox_aggregate_key` ON `outbox` (`aggregate_key`, `id`) WHERE `aggregate_key` IS NOT NULL;
CREATE INDEX IF NOT EXISTS `outbox_due_at` ON `outbox` (`due_at`, `id`) WHERE `due_at` IS NOT NULL;
CREATE INDEX IF NOT EXISTS `outbox_delivered_at` ON `outbox` (`delivered_at`) WHERE `delivered_at` IS NOT NULL;
CREATE INDEX IF NOT EXISTS `outbox_dead_at` ON `outbox` (`dead_at`) WHERE `dead_at` IS NOT NULL;
-- primary 055-outbox-row-ids
-- primary 001-categories
CREATE TABLE IF NOT EXISTS `categories` (`id` INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, `name` TEXT NOT NULL, `parent_id` INTEGER, `slug` TEXT NOT NULL, `row_version` BLOB NOT NULL, CONSTRAINT `categories_parent_id_fk` FOREIGN KEY (`parent_id`) REFERENCES `categories` (`id`) ON DELETE NO ACTION) STRICT;
CREATE UNIQUE INDEX IF NOT EXISTS `categories_name_unique` ON `categories` (sort_key(`name`));
CREATE INDEX IF NOT EXISTS `categories_name` ON `categories` (sort_key(`name`), `id`);
CREATE INDEX IF NOT EXISTS `categories_name_desc` ON `categories` (sort_key(`name`) DESC, `id`);
CREATE INDEX IF NOT EXISTS `categories_parent_id` ON `categories` (`parent_id`, `id`);
CREATE INDEX IF NOT EXISTS `categories_parent_id_desc` ON `categories` (`parent_id` DESC, `id`);
CREATE UNIQUE INDEX IF NOT EXISTS `categories_slug_unique` ON `categories` (sort_key(`slug`));
CREATE INDEX IF NOT EXISTS `categories_slug` ON `categories` (sort_key(`slug`), `id`);
CREATE INDEX IF NOT EXISTS `categories_slug_desc` ON `categories` (sort_key(`slug`) DESC, `id`);
-- primary 002-products
CREATE TABLE IF NOT EXISTS `products` (`id` INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, `name` TEXT NOT NULL, `sku` TEXT NOT NULL, `category_id` INTEGER NOT NULL, `price` INTEGER NOT NULL, `weight_grams` INTEGER, `barcode` INTEGER, `is_active` INTEGER NOT NULL, `released_at` TEXT, `external_id` TEXT, `description` TEXT, `row_version` BLOB NOT NULL, CONSTRAINT `products_category_id_fk` FOREIGN KEY (`category_id`) REFERENCES `categories` (`id`) ON DELETE NO ACTION) STRICT;
CREATE INDEX IF NOT EXISTS `products_name` ON `products` (sort_key(`name`), `id`);
CREATE INDEX IF NOT EXISTS `products_name_desc` ON `products` (sort_key(`name`) DESC, `id`);
CREATE UNIQUE INDEX IF NOT EXISTS `products_sku_unique` ON `products` (sort_key(`sku`));
CREATE INDEX IF NOT EXISTS `products_sku` ON `products` (sort_key(`sku`), `id`);
CREATE INDEX IF NOT EXISTS `products_sku_desc` ON `products` (sort_key(`sku`) DESC, `id`);
CREATE INDEX IF NOT EXISTS `products_category_id` ON `products` (`category_id`, `id`);
CREATE INDEX IF NOT EXISTS `products_category_id_desc` ON `products` (`category_id` DESC, `id`);
CREATE INDEX IF NOT EXISTS `products_price` ON `products` (`price`, `id`);
CREATE INDEX IF NOT EXISTS `products_price_desc` ON `products` (`price` DESC, `id`);
CREATE INDEX IF NOT EXISTS `products_weight_grams` ON `products` (`weight_grams`, `id`);
CREATE INDEX IF NOT EXISTS `products_weight_grams_desc` ON `products` (`weight_grams` DESC, `id`);
CREATE INDEX IF NOT EXISTS `products_barcode` ON `products` (`barcode`, `id`);
CREATE INDEX IF NOT EXISTS `products_barcode_desc` ON `products` (`barcode` DESC, `id`);
CREATE INDEX IF NOT EXISTS `products_is_active` ON `products` (`is_active`, `id`);
CREATE INDEX IF NOT EXISTS `products_is_active_desc` ON `products` (`is_active` DESC, `id`);
CREATE INDEX IF NOT EXISTS `products_released_at` ON `products` (`released_at`, `id`);
CREATE INDEX IF NOT EXISTS `products_released_at_desc` ON `products` (`released_at` DESC, `id`);
CREATE INDEX IF NOT EXISTS `products_external_id` ON `products` (`external_id`, `id`);
CREATE INDEX IF NOT EXISTS `products_external_id_desc` ON `products` (`external_id` DESC, `id`);
CREATE TABLE IF NOT EXISTS `product_variants` (`id` INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, `product_id` INTEGER NOT NULL, `name` TEXT NOT NULL, `sku` TEXT NOT NULL, `price` INTEGER NOT NULL, `stock` INTEGER NOT NULL, `row_version` BLOB NOT NULL, CONSTRAINT `product_variants_product_id_fk` FOREIGN KEY (`product_id`) REFERENCES `products` (`id`) ON DELETE CASCADE) STRICT;
CREATE INDEX IF NOT EXISTS `product_variants_product_id` ON `product_variants` (`product_id`, `id`);
CREATE UNIQUE INDEX IF NOT EXISTS `product_variants_sku_unique` ON `product_variants` (sort_key(`sku`));
-- primary 003-customers
CREATE TABLE IF NOT EXISTS `customers` (`id` INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, `name` TEXT NOT NULL, `email` TEXT NOT NULL, `phone` TEXT, `is_suspended` INTEGER NOT NULL, `created_at` TEXT NOT NULL, `risk_note` TEXT, `row_version` BLOB NOT NULL) STRICT;
CREATE INDEX IF NOT EXISTS `customers_name` ON `customers` (sort_key(`name`), `id`);
CREATE INDEX IF NOT EXISTS `customers_name_desc` ON `customers` (sort_key(`name`) DESC, `id`);
CREATE UNIQUE INDEX IF NOT EXISTS `customers_email_unique` ON `customers` (sort_key(`email`));
CREATE INDEX IF NOT EXISTS `customers_email` ON `customers` (sort_key(`email`), `id`);
CREATE INDEX IF NOT EXISTS `customers_email_desc` ON `customers` (sort_key(`email`) DESC, `id`);
CREATE INDEX IF NOT EXISTS `customers_phone` ON `customers` (sort_key(`phone`), `id`);
CREATE INDEX IF NOT EXISTS `customers_phone_desc` ON `customers` (sort_key(`phone`) DESC, `id`);
CREATE INDEX IF NOT EXISTS `customers_is_suspended` ON `customers` (`is_suspended`, `id`);
CREATE INDEX IF NOT EXISTS `customers_is_suspended_desc` ON `customers` (`is_suspended` DESC, `id`);
CREATE INDEX IF NOT EXISTS `customers_created_at` ON `customers` (`created_at`, `id`);
CREATE INDEX IF NOT EXISTS `customers_created_at_desc` ON `customers` (`created_at` DESC, `id`);
CREATE TABLE IF NOT EXISTS `customer_addresses` (`id` INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, `customer_id` INTEGER NOT NULL, `line1` TEXT NOT NULL, `city` TEXT NOT NULL, `postal_code` TEXT NOT NULL, `country` TEXT NOT NULL, `row_version` BLOB NOT NULL, CONSTRAINT `customer_addresses_customer_id_fk` FOREIGN KEY (`customer_id`) REFERENCES `customers` (`id`) ON DELETE CASCADE) STRICT;
CREATE INDEX IF NOT EXISTS `customer_addresses_customer_id` ON `customer_addresses` (`customer_id`, `id`);
-- primary 004-orders
CREATE TABLE IF NOT EXISTS `orders` (`id` INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, `number` TEXT NOT NULL, `customer_id` INTEGER NOT NULL, `status` TEXT NOT NULL, `total` INTEGER NOT NULL, `placed_at` TEXT NOT NULL, `paid_at` TEXT, `delivered_at` TEXT, `tracking_code` TEXT, `row_version` BLOB NOT NULL, CONSTRAINT `orders_customer_id_fk` FOREIGN KEY (`customer_id`) REFERENCES `customers` (`id`) ON DELETE NO ACTION) STRICT;
CREATE UNIQUE INDEX IF NOT EXISTS `orders_number_unique` ON `orders` (sort_key(`number`));
CREATE INDEX IF NOT EXISTS `orders_number` ON `orders` (sort_key(`number`), `id`);
CREATE INDEX IF NOT EXISTS `orders_number_desc` ON `orders` (sort_key(`number`) DESC, `id`);
CREATE INDEX IF NOT EXISTS `orders_customer_id` ON `orders` (`customer_id`, `id`);
CREATE INDEX IF NOT EXISTS `orders_customer_id_desc` ON `orders` (`customer_id` DESC, `id`);
CREATE INDEX IF NOT EXISTS `orders_status` ON `orders` (sort_key(`status`), `id`);
CREATE INDEX IF NOT EXISTS `orders_status_desc` ON `orders` (sort_key(`status`) DESC, `id`);
CREATE INDEX IF NOT EXISTS `orders_total` ON `orders` (`total`, `id`);
CREATE INDEX IF NOT EXISTS `orders_total_desc` ON `orders` (`total` DESC, `id`);
CREATE INDEX IF NOT EXISTS `orders_placed_at` ON `orders` (`placed_at`, `id`);
CREATE INDEX IF NOT EXISTS `orders_placed_at_desc` ON `orders` (`placed_at` DESC, `id`);
CREATE INDEX IF NOT EXISTS `orders_paid_at` ON `orders` (`paid_at`, `id`);
CREATE INDEX IF NOT EXISTS `orders_paid_at_desc` ON `orders` (`paid_at` DESC, `id`);
CREATE INDEX IF NOT EXISTS `orders_delivered_at` ON `orders` (`delivered_at`, `id`);
CREATE INDEX IF NOT EXISTS `orders_delivered_at_desc` ON `orders` (`delivered_at` DESC, `id`);
CREATE INDEX IF NOT EXISTS `orders_tracking_code` ON `orders` (sort_key(`tracking_code`), `id`);
CREATE INDEX IF NOT EXISTS `orders_tracking_code_desc` ON `orders` (sort_key(`tracking_code`) DESC, `id`);
CREATE TABLE IF NOT EXISTS `order_lines` (`id` INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, `order_id` INTEGER NOT NULL, `product_id` INTEGER NOT NULL, `variant_id` INTEGER, `quantity` INTEGER NOT NULL, `unit_price` INTEGER NOT NULL, `row_version` BLOB NOT NULL, CONSTRAINT `order_lines_order_id_fk` FOREIGN KEY (`order_id`) REFERENCES `orders` (`id`) ON DELETE CASCADE, CONSTRAINT `order_lines_product_id_fk` FOREIGN KEY (`product_id`) REFERENCES `products` (`id`) ON DELETE NO ACTION, CONSTRAINT `order_lines_variant_id_fk` FOREIGN KEY (`variant_id`) REFERENCES `product_variants` (`id`) ON DELETE NO ACTION) STRICT;
CREATE INDEX IF NOT EXISTS `order_lines_order_id` ON `order_lines` (`order_id`, `id`);
CREATE INDEX IF NOT EXISTS `order_lines_product_id` ON `order_lines` (`product_id`, `id`);
CREATE INDEX IF NOT EXISTS `order_lines_variant_id` ON `order_lines` (`variant_id`, `id`);
-- primary 010-coupons
CREATE TABLE IF NOT EXISTS `coupons` (`id` INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, `code` TEXT NOT NULL, `percent` INTEGER NOT NULL, `starts_at` TEXT NOT NULL, `ends_at` TEXT, `is_active` INTEGER NOT NULL, `row_version` BLOB NOT NULL) STRICT;
CREATE UNIQUE INDEX IF NOT EXISTS `coupons_code_unique` ON `coupons` (sort_key(`code`));
CREATE INDEX IF NOT EXISTS `coupons_code` ON `coupons` (sort_key(`code`), `id`);
CREATE INDEX IF NOT EXISTS `coupons_code_desc` ON `coupons` (sort_key(`code`) DESC, `id`);
CREATE INDEX IF NOT EXISTS `coupons_percent` ON `coupons` (`percent`, `id`);
CREATE INDEX IF NOT EXISTS `coupons_percent_desc` ON `coupons` (`percent` DESC, `id`);
CREATE INDEX IF NOT EXISTS `coupons_starts_at` ON `coupons` (`starts_at`, `id`);
CREATE INDEX IF NOT EXISTS `coupons_starts_at_desc` ON `coupons` (`starts_at` DESC, `id`);
CREATE INDEX IF NOT EXISTS `coupons_ends_at` ON `coupons` (`ends_at`, `id`);
CREATE INDEX IF NOT EXISTS `coupons_ends_at_desc` ON `coupons` (`ends_at` DESC, `id`);
CREATE INDEX IF NOT EXISTS `coupons_is_active` ON `coupons` (`is_active`, `id`);
CREATE INDEX IF NOT EXISTS `coupons_is_active_desc` ON `coupons` (`is_active` DESC, `id`);
-- primary 011-returns
CREATE TABLE IF NOT EXISTS `returns` (`id` INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, `order_id` INTEGER NOT NULL, `customer_id` INTEGER NOT NULL, `reason` TEXT NOT NULL, `status` TEXT NOT NULL, `requested_at` TEXT NOT NULL, `reject_reason` TEXT, `row_version` BLOB NOT NULL, CONSTRAINT `returns_order_id_fk` FOREIGN KEY (`order_id`) REFERENCES `orders` (`id`) ON DELETE NO ACTION, CONSTRAINT `returns_customer_id_fk` FOREIGN KEY (`customer_id`) REFERENCES `customers` (`id`) ON DELETE NO ACTION) STRICT;
CREATE INDEX IF NOT EXISTS `returns_order_id` ON `returns` (`order_id`, `id`);
CREATE INDEX IF NOT EXISTS `returns_order_id_desc` ON `returns` (`order_id` DESC, `id`);
CREATE INDEX IF NOT EXISTS `returns_customer_id` ON `returns` (`customer_id`, `id`);
CREATE INDEX IF NOT EXISTS `returns_customer_id_desc` ON `returns` (`customer_id` DESC, `id`);
CREATE INDEX IF NOT EXISTS `returns_status` ON `returns` (sort_key(`status`), `id`);
CREATE INDEX IF NOT EXISTS `returns_status_desc` ON `returns` (sort_key(`status`) DESC, `id`);
CREATE INDEX IF NOT EXISTS `returns_requested_at` ON `returns` (`requested_at`, `id`);
CREATE INDEX IF NOT EXISTS `returns_requested_at_desc` ON `returns` (`requested_at` DESC, `id`);
CREATE TABLE IF NOT EXISTS `return_lines` (`id` INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, `return_id` INTEGER NOT NULL, `product_id` INTEGER NOT NULL, `variant_id` INTEGER, `quantity` INTEGER NOT NULL, `row_version` BLOB NOT NULL, CONSTRAINT `return_lines_return_id_fk` FOREIGN KEY (`return_id`) REFERENCES `returns` (`id`) ON DELETE CASCADE, CONSTRAINT `return_lines_product_id_fk` FOREIGN KEY (`product_id`) REFERENCES `products` (`id`) ON DELETE NO ACTION, CONSTRAINT `return_lines_variant_id_fk` FOREIGN KEY (`variant_id`) REFERENCES `product_variants` (`id`) ON DELETE NO ACTION) STRICT;
CREATE INDEX IF NOT EXISTS `return_lines_return_id` ON `return_lines` (`return_id`, `id`);
CREATE INDEX IF NOT EXISTS `return_lines_product_id` ON `return_lines` (`product_id`, `id`);
CREATE INDEX IF NOT EXISTS `return_lines_variant_id` ON `return_lines` (`variant_id`, `id`);
-- primary 012-invoices
CREATE TABLE IF NOT EXISTS `invoices` (`id` INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, `order_id` INTEGER NOT NULL, `customer_id` INTEGER NOT NULL, `number` TEXT NOT NULL, `total` INTEGER NOT NULL, `status` TEXT NOT NULL, `issued_at` TEXT, `row_version` BLOB NOT NULL, CONSTRAINT `invoices_order_id_fk` FOREIGN KEY (`order_id`) REFERENCES `orders` (`id`) ON DELETE NO ACTION, CONSTRAINT `invoices_customer_id_fk` FOREIGN KEY (`customer_id`) REFERENCES `customers` (`id`) ON DELETE NO ACTION) STRICT;
CREATE UNIQUE INDEX IF NOT EXISTS `invoices_order_id_unique` ON `invoices` (`order_id`);
CREATE INDEX IF NOT EXISTS `invoices_order_id` ON `invoices` (`order_id`, `id`);
CREATE INDEX IF NOT EXISTS `invoices_order_id_desc` ON `invoices` (`order_id` DESC, `id`);
CREATE INDEX IF NOT EXISTS `invoices_customer_id` ON `invoices` (`customer_id`, `id`);
CREATE INDEX IF NOT EXISTS `invoices_customer_id_desc` ON `invoices` (`customer_id` DESC, `id`);
CREATE UNIQUE INDEX IF NOT EXISTS `invoices_number_unique` ON `invoices` (sort_key(`number`));
CREATE INDEX IF NOT EXISTS `invoices_number` ON `invoices` (sort_key(`number`), `id`);
CREATE INDEX IF NOT EXISTS `invoices_number_desc` ON `invoices` (sort_key(`number`) DESC, `id`);
CREATE INDEX IF NOT EXISTS `invoices_total` ON `invoices` (`total`, `id`);
CREATE INDEX IF NOT EXISTS `invoices_total_desc` ON `invoices` (`total` DESC, `id`);
CREATE INDEX IF NOT EXISTS `invoices_status` ON `invoices` (sort_key(`status`), `id`);
CREATE INDEX IF NOT EXISTS `invoices_status_desc` ON `invoices` (sort_key(`status`) DESC, `id`);
CREATE INDEX IF NOT EXISTS `invoices_issued_at` ON `invoices` (`issued_at`, `id`);
CREATE INDEX IF NOT EXISTS `invoices_issued_at_desc` ON `invoices` (`issued_at` DESC, `id`);
-- primary 013-suppliers
CREATE TABLE IF NOT EXISTS `suppliers` (`id` INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, `name` TEXT NOT NULL, `country` TEXT NOT NULL, `is_active` INTEGER NOT NULL, `row_version` BLOB NOT NULL) STRICT;
CREATE INDEX IF NOT EXISTS `suppliers_name` ON `suppliers` (sort_key(`name`), `id`);
CREATE INDEX IF NOT EXISTS `suppliers_name_desc` ON `suppliers` (sort_key(`name`) DESC, `id`);
CREATE INDEX IF NOT EXISTS `suppliers_country` ON `suppliers` (sort_key(`country`), `id`);
CREATE INDEX IF NOT EXISTS `suppliers_country_desc` ON `suppliers` (sort_key(`country`) DESC, `id`);
CREATE INDEX IF NOT EXISTS `suppliers_is_active` ON `suppliers` (`is_active`, `id`);
CREATE INDEX IF NOT EXISTS `suppliers_is_active_desc` ON `suppliers` (`is_active` DESC, `id`);
-- primary 014-purchase-orders
CREATE TABLE IF NOT EXISTS `purchase_orders` (`id` INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, `supplier_id` INTEGER NOT NULL, `status` TEXT NOT NULL, `expected_at` TEXT, `cancel_reason` TEXT, `row_version` BLOB NOT NULL, CONSTRAINT `purchase_orders_supplier_id_fk` FOREIGN KEY (`supplier_id`) REFERENCES `suppliers` (`id`) ON DELETE NO ACTION) STRICT;
CREATE INDEX IF NOT EXISTS `purchase_orders_supplier_id` ON `purchase_orders` (`supplier_id`, `id`);
CREATE INDEX IF NOT EXISTS `purchase_orders_supplier_id_desc` ON `purchase_orders` (`supplier_id` DESC, `id`);
CREATE INDEX IF NOT EXISTS `purchase_orders_status` ON `purchase_orders` (sort_key(`status`), `id`);
CREATE INDEX IF NOT EXISTS `purchase_orders_status_desc` ON `purchase_orders` (sort_key(`status`) DESC, `id`);
CREATE INDEX IF NOT EXISTS `purchase_orders_expected_at` ON `purchase_orders` (`expected_at`, `id`);
CREATE INDEX IF NOT EXISTS `purchase_orders_expected_at_desc` ON `purchase_orders` (`expected_at` DESC, `id`);
CREATE TABLE IF NOT EXISTS `purchase_order_lines` (`id` INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, `purchase_order_id` INTEGER NOT NULL, `product_id` INTEGER NOT NULL, `quantity` INTEGER NOT NULL, `received_quantity` INTEGER NOT NULL, `row_version` BLOB NOT NULL, CONSTRAINT `purchase_order_lines_purchase_order_id_fk` FOREIGN KEY (`purchase_order_id`) REFERENCES `purchase_orders` (`id`) ON DELETE CASCADE, CONSTRAINT `purchase_order_lines_product_id_fk` FOREIGN KEY (`product_id`) REFERENCES `products` (`id`) ON DELETE NO ACTION) STRICT;
CREATE INDEX IF NOT EXISTS `purchase_order_lines_purchase_order_id` ON `purchase_order_lines` (`purchase_order_id`, `id`);
CREATE INDEX IF NOT EXISTS `purchase_order_lines_product_id` ON `purchase_order_lines` (`product_id`, `id`);
-- primary 015-warehouses
CREATE TABLE IF NOT EXISTS `warehouses` (`id` TEXT NOT NULL PRIMARY KEY, `name` TEXT NOT NULL, `city` TEXT NOT NULL, `is_open` INTEGER NOT NULL, `row_version` BLOB NOT NULL) STRICT;
CREATE INDEX IF NOT EXISTS `warehouses_name` ON `warehouses` (sort_key(`name`), `id`);
CREATE INDEX IF NOT EXISTS `warehouses_name_desc` ON `warehouses` (sort_key(`name`) DESC, `id`);
CREATE INDEX IF NOT EXISTS `warehouses_city` ON `warehouses` (sort_key(`city`), `id`);
CREATE INDEX IF NOT EXISTS `warehouses_city_desc` ON `warehouses` (sort_key(`city`) DESC, `id`);
CREATE INDEX IF NOT EXISTS `warehouses_is_open` ON `warehouses` (`is_open`, `id`);
CREATE INDEX IF NOT EXISTS `warehouses_is_open_desc` ON `warehouses` (`is_open` DESC, `id`);
-- primary 016-stock-items
CREATE TABLE IF NOT EXISTS `stock_items` (`id` INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, `warehouse_id` TEXT NOT NULL, `product_id` INTEGER NOT NULL, `on_hand` INTEGER NOT NULL, `reserved` INTEGER NOT NULL, `row_version` BLOB NOT NULL, CONSTRAINT `stock_items_warehouse_id_fk` FOREIGN KEY (`warehouse_id`) REFERENCES `warehouses` (`id`) ON DELETE NO ACTION, CONSTRAINT `stock_items_product_id_fk` FOREIGN KEY (`product_id`) REFERENCES `products` (`id`) ON DELETE NO ACTION) STRICT;
CREATE INDEX IF NOT EXISTS `stock_items_warehouse_id` ON `stock_items` (`warehouse_id`, `id`);
CREATE INDEX IF NOT EXISTS `stock_items_warehouse_id_desc` ON `stock_items` (`warehouse_id` DESC, `id`);
CREATE INDEX IF NOT EXISTS `stock_items_product_id` ON `stock_items` (`product_id`, `id`);
CREATE INDEX IF NOT EXISTS `stock_items_product_id_desc` ON `stock_items` (`product_id` DESC, `id`);
CREATE INDEX IF NOT EXISTS `stock_items_on_hand` ON `stock_items` (`on_hand`, `id`);
CREATE INDEX IF NOT EXISTS `stock_items_on_hand_desc` ON `stock_items` (`on_hand` DESC, `id`);
CREATE INDEX IF NOT EXISTS `stock_items_reserved` ON `stock_items` (`reserved`, `id`);
CREATE INDEX IF NOT EXISTS `stock_items_reserved_desc` ON `stock_items` (`reserved` DESC, `id`);
-- primary 020-venues
CREATE TABLE IF NOT EXISTS `venues` (`id` INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, `name` TEXT NOT NULL, `city` TEXT NOT NULL, `capacity` INTEGER NOT NULL, `is_open` INTEGER NOT NULL, `row_version` BLOB NOT NULL) STRICT;
CREATE INDEX IF NOT EXISTS `venues_name` ON `venues` (sort_key(`name`), `id`);
CREATE INDEX IF NOT EXISTS `venues_name_desc` ON `venues` (sort_key(`name`) DESC, `id`);
CREATE INDEX IF NOT EXISTS `venues_city` ON `venues` (sort_key(`city`), `id`);
CREATE INDEX IF NOT EXISTS `venues_city_desc` ON `venues` (sort_key(`city`) DESC, `id`);
CREATE INDEX IF NOT EXISTS `venues_capacity` ON `venues` (`capacity`, `id`);
CREATE INDEX IF NOT EXISTS `venues_capacity_desc` ON `venues` (`capacity` DESC, `id`);
CREATE INDEX IF NOT EXISTS `venues_is_open` ON `venues` (`is_open`, `id`);
CREATE INDEX IF NOT EXISTS `venues_is_open_desc` ON `venues` (`is_open` DESC, `id`);
-- primary 021-events
CREATE TABLE IF NOT EXISTS `events` (`id` INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, `title` TEXT NOT NULL, `starts_at` TEXT NOT NULL, `ends_at` TEXT NOT NULL, `venue_id` INTEGER NOT NULL, `status` TEXT NOT NULL, `row_version` BLOB NOT NULL, CONSTRAINT `events_venue_id_fk` FOREIGN KEY (`venue_id`) REFERENCES `venues` (`id`) ON DELETE NO ACTION) STRICT;
CREATE INDEX IF NOT EXISTS `events_title` ON `events` (sort_key(`title`), `id`);
CREATE INDEX IF NOT EXISTS `events_title_desc` ON `events` (sort_key(`title`) DESC, `id`);
CREATE INDEX IF NOT EXISTS `events_starts_at` ON `events` (`starts_at`, `id`);
CREATE INDEX IF NOT EXISTS `events_starts_at_desc` ON `events` (`starts_at` DESC, `id`);
CREATE INDEX IF NOT EXISTS `events_ends_at` ON `events` (`ends_at`, `id`);
CREATE INDEX IF NOT EXISTS `events_ends_at_desc` ON `events` (`ends_at` DESC, `id`);
CREATE INDEX IF NOT EXISTS `events_venue_id` ON `events` (`venue_id`, `id`);
CREATE INDEX IF NOT EXISTS `events_venue_id_desc` ON `events` (`venue_id` DESC, `id`);
CREATE INDEX IF NOT EXISTS `events_status` ON `events` (sort_key(`status`), `id`);
CREATE INDEX IF NOT EXISTS `events_status_desc` ON `events` (sort_key(`status`) DESC, `id`);
-- primary 022-speakers
CREATE TABLE IF NOT EXISTS `speakers` (`id` INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, `name` TEXT NOT NULL, `bio` TEXT, `event_id` INTEGER NOT NULL, `is_confirmed` INTEGER NOT NULL, `row_version` BLOB NOT NULL, CONSTRAINT `speakers_event_id_fk` FOREIGN KEY (`event_id`) REFERENCES `events` (`id`) ON DELETE NO ACTION) STRICT;
CREATE INDEX IF NOT EXISTS `speakers_name` ON `speakers` (sort_key(`name`), `id`);
CREATE INDEX IF NOT EXISTS `speakers_name_desc` ON `speakers` (sort_key(`name`) DESC, `id`);
CREATE INDEX IF NOT EXISTS `speakers_event_id` ON `speakers` (`event_id`, `id`);
CREATE INDEX IF NOT EXISTS `speakers_event_id_desc` ON `speakers` (`event_id` DESC, `id`);
-- primary 023-tickets
CREATE TABLE IF NOT EXISTS `tickets` (`id` INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, `event_id` INTEGER NOT NULL, `customer_id` INTEGER NOT NULL, `seat` TEXT, `status` TEXT NOT NULL, `price` INTEGER NOT NULL, `row_version` BLOB NOT NULL, CONSTRAINT `tickets_event_id_fk` FOREIGN KEY (`event_id`) REFERENCES `events` (`id`) ON DELETE NO ACTION, CONSTRAINT `tickets_customer_id_fk` FOREIGN KEY (`customer_id`) REFERENCES `customers` (`id`) ON DELETE NO ACTION) STRICT;
CREATE INDEX IF NOT EXISTS `tickets_event_id` ON `tickets` (`event_id`, `id`);
CREATE INDEX IF NOT EXISTS `tickets_event_id_desc` ON `tickets` (`event_id` DESC, `id`);
CREATE INDEX IF NOT EXISTS `tickets_customer_id` ON `tickets` (`customer_id`, `id`);
CREATE INDEX IF NOT EXISTS `tickets_customer_id_desc` ON `tickets` (`customer_id` DESC, `id`);
CREATE INDEX IF NOT EXISTS `tickets_seat` ON `tickets` (sort_key(`seat`), `id`);
CREATE INDEX IF NOT EXISTS `tickets_seat_desc` ON `tickets` (sort_key(`seat`) DESC, `id`);
CREATE INDEX IF NOT EXISTS `tickets_status` ON `tickets` (sort_key(`status`), `id`);
CREATE INDEX IF NOT EXISTS `tickets_status_desc` ON `tickets` (sort_key(`status`) DESC, `id`);
CREATE INDEX IF NOT EXISTS `tickets_price` ON `tickets` (`price`, `id`);
CREATE INDEX IF NOT EXISTS `tickets_price_desc` ON `tickets` (`price` DESC, `id`);
-- primary 024-bookmarks
CREATE TABLE IF NOT EXISTS `bookmarks` (`id` INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, `user_id` INTEGER NOT NULL, `session_id` INTEGER NOT NULL, `note` TEXT, `created_at` TEXT NOT NULL, `row_version` BLOB NOT NULL) STRICT;
CREATE INDEX IF NOT EXISTS `bookmarks_user_id` ON `bookmarks` (`user_id`, `id`);
CREATE INDEX IF NOT EXISTS `bookmarks_user_id_desc` ON `bookmarks` (`user_id` DESC, `id`);
CREATE INDEX IF NOT EXISTS `bookmarks_session_id` ON `bookmarks` (`session_id`, `id`);
CREATE INDEX IF NOT EXISTS `bookmarks_session_id_desc` ON `bookmarks` (`session_id` DESC, `id`);
CREATE INDEX IF NOT EXISTS `bookmarks_created_at` ON `bookmarks` (`created_at`, `id`);
CREATE INDEX IF NOT EXISTS `bookmarks_created_at_desc` ON `bookmarks` (`created_at` DESC, `id`);
CREATE UNIQUE INDEX IF NOT EXISTS `bookmarks_user_id_session_id_unique` ON `bookmarks` (`user_id`, `session_id`);
-- primary 025-subscriptions
CREATE TABLE IF NOT EXISTS `subscriptions` (`id` INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, `customer_id` INTEGER NOT NULL, `plan` TEXT NOT NULL, `renews_at` TEXT NOT NULL, `status` TEXT NOT NULL, `row_version` BLOB NOT NULL, CONSTRAINT `subscriptions_customer_id_fk` FOREIGN KEY (`customer_id`) REFERENCES `customers` (`id`) ON DELETE NO ACTION) STRICT;
CREATE INDEX IF NOT EXISTS `subscriptions_customer_id` ON `subscriptions` (`customer_id`, `id`);
CREATE INDEX IF NOT EXISTS `subscriptions_customer_id_desc` ON `subscriptions` (`customer_id` DESC, `id`);
CREATE INDEX IF NOT EXISTS `subscriptions_plan` ON `subscriptions` (sort_key(`plan`), `id`);
CREATE INDEX IF NOT EXISTS `subscriptions_plan_desc` ON `subscriptions` (sort_key(`plan`) DESC, `id`);
CREATE INDEX IF NOT EXISTS `subscriptions_renews_at` ON `subscriptions` (`renews_at`, `id`);
CREATE INDEX IF NOT EXISTS `subscriptions_renews_at_desc` ON `subscriptions` (`renews_at` DESC, `id`);
CREATE INDEX IF NOT EXISTS `subscriptions_status` ON `subscriptions` (sort_key(`status`), `id`);
CREATE INDEX IF NOT EXISTS `subscriptions_status_desc` ON `subscriptions` (sort_key(`status`) DESC, `id`);
-- primary 026-shopping-carts
CREATE TABLE IF NOT EXISTS `shopping_carts` (`id` INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, `customer_id` INTEGER NOT NULL, `currency` TEXT NOT NULL, `coupon_code` TEXT, `updated_at` TEXT NOT NULL, `order_number` TEXT, `row_version` BLOB NOT NULL, CONSTRAINT `shopping_carts_customer_id_fk` FOREIGN KEY (`customer_id`) REFERENCES `customers` (`id`) ON DELETE NO ACTION) STRICT;
CREATE INDEX IF NOT EXISTS `shopping_carts_customer_id` ON `shopping_carts` (`customer_id`, `id`);
CREATE INDEX IF NOT EXISTS `shopping_carts_customer_id_desc` ON `shopping_carts` (`customer_id` DESC, `id`);
CREATE INDEX IF NOT EXISTS `shopping_carts_currency` ON `shopping_carts` (sort_key(`currency`), `id`);
CREATE INDEX IF NOT EXISTS `shopping_carts_currency_desc` ON `shopping_carts` (sort_key(`currency`) DESC, `id`);
CREATE INDEX IF NOT EXISTS `shopping_carts_coupon_code` ON `shopping_carts` (sort_key(`coupon_code`), `id`);
CREATE INDEX IF NOT EXISTS `shopping_carts_coupon_code_desc` ON `shopping_carts` (sort_key(`coupon_code`) DESC, `id`);
CREATE INDEX IF NOT EXISTS `shopping_carts_updated_at` ON `shopping_carts` (`updated_at`, `id`);
CREATE INDEX IF NOT EXISTS `shopping_carts_updated_at_desc` ON `shopping_carts` (`updated_at` DESC, `id`);
CREATE TABLE IF NOT EXISTS `shopping_cart_items` (`id` INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, `shopping_cart_id` INTEGER NOT NULL, `product_id` INTEGER NOT NULL, `variant_id` INTEGER, `quantity` INTEGER NOT NULL, `row_version` BLOB NOT NULL, CONSTRAINT `shopping_cart_items_shopping_cart_id_fk` FOREIGN KEY (`shopping_cart_id`) REFERENCES `shopping_carts` (`id`) ON DELETE CASCADE, CONSTRAINT `shopping_cart_items_product_id_fk` FOREIGN KEY (`product_id`) REFERENCES `products` (`id`) ON DELETE NO ACTION, CONSTRAINT `shopping_cart_items_variant_id_fk` FOREIGN KEY (`variant_id`) REFERENCES `product_variants` (`id`) ON DELETE NO ACTION) STRICT;
CREATE INDEX IF NOT EXISTS `shopping_cart_items_shopping_cart_id` ON `shopping_cart_items` (`shopping_cart_id`, `id`);
CREATE INDEX IF NOT EXISTS `shopping_cart_items_product_id` ON `shopping_cart_items` (`product_id`, `id`);
CREATE INDEX IF NOT EXISTS `shopping_cart_items_variant_id` ON `shopping_cart_items` (`variant_id`, `id`);
-- primary 040-product-costs
ALTER TABLE `products` ADD COLUMN `cost_price` INTEGER;
ALTER TABLE `products` ADD COLUMN `reorder_level` INTEGER;
CREATE INDEX IF NOT EXISTS `products_cost_price` ON `products` (`cost_price`, `id`);
CREATE INDEX IF NOT EXISTS `products_cost_price_desc` ON `products` (`cost_price` DESC, `id`);
CREATE INDEX IF NOT EXISTS `products_reorder_level` ON `products` (`reorder_level`, `id`);
CREATE INDEX IF NOT EXISTS `products_reorder_level_desc` ON `products` (`reorder_level` DESC, `id`);
-- primary 041-credit-limits
ALTER TABLE `customers` ADD COLUMN `credit_limit` INTEGER;
-- primary 042-unit-costs
ALTER TABLE `order_lines` ADD COLUMN `unit_cost` INTEGER;
-- primary 045-product-orders
CREATE INDEX IF NOT EXISTS `products_category_id_price_order` ON `products` (`category_id`, `price`, `id`);
CREATE INDEX IF NOT EXISTS `products_category_id_price_desc_order` ON `products` (`category_id`, `price` DESC, `id`);
-- primary 046-credit-limit-order
CREATE INDEX IF NOT EXISTS `customers_credit_limit` ON `customers` (`credit_limit`, `id`);
-- primary 047-requesters
ALTER TABLE `purchase_orders` ADD COLUMN `requested_by` TEXT NOT NULL DEFAULT 'unknown';
CREATE INDEX IF NOT EXISTS `purchase_orders_requested_by` ON `purchase_orders` (sort_key(`requested_by`), `id`);
CREATE INDEX IF NOT EXISTS `purchase_orders_requested_by_desc` ON `purchase_orders` (sort_key(`requested_by`) DESC, `id`);
-- second 001-product-reviews
CREATE TABLE IF NOT EXISTS `product_reviews` (`id` INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, `product_id` INTEGER NOT NULL, `rating` INTEGER NOT NULL, `title` TEXT NOT NULL, `body` TEXT, `author_name` TEXT NOT NULL, `created_at` TEXT NOT NULL, `row_version` BLOB NOT NULL) STRICT;
CREATE INDEX IF NOT EXISTS `product_reviews_product_id` ON `product_reviews` (`product_id`, `id`);
