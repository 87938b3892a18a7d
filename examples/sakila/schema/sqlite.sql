-- The Sakila sample database of MySQL, for SQLite. Copyright (c) 2006, 2024, Oracle and/or its affiliates, under the New
-- BSD licence in ../LICENSE.
--
-- Tables, columns and keys are those of mysql.sql, which names its differences to the original. Here in addition:
-- - the keys that the database numbers are INTEGER, which SQLite requires of them, and begin at 1;
-- - what SQLite has no type for is stored as uniform-rest stores it: amounts as whole numbers of cents, times as texts such
--   as 2006-02-15T04:34:33.000Z, an enumeration as a text with a CHECK, a set as a text with commas between its words;
-- - triggers keep `last_update`, since SQLite has no ON UPDATE CURRENT_TIMESTAMP, and set dates after the
--   INSERT, for which those columns have a default;
-- - indexes have the name of their table before them, and there is none for full text and none for places;
-- - UPPER and LOWER change no letter beyond ASCII.
--
-- The statements after the line "-- After the rows" are run when the rows are there.

CREATE TABLE actor (
  actor_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  first_name VARCHAR(45) NOT NULL,
  last_name VARCHAR(45) NOT NULL,
  last_update TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
);
CREATE INDEX actor_idx_actor_last_name ON actor (last_name);

CREATE TABLE address (
  address_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  address VARCHAR(50) NOT NULL,
  address2 VARCHAR(50) DEFAULT NULL,
  district VARCHAR(20) NOT NULL,
  city_id SMALLINT UNSIGNED NOT NULL,
  postal_code VARCHAR(10) DEFAULT NULL,
  phone VARCHAR(20) NOT NULL,
  location BLOB NOT NULL,
  last_update TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  CONSTRAINT fk_address_city FOREIGN KEY (city_id) REFERENCES city (city_id) ON DELETE NO ACTION ON UPDATE CASCADE
);
CREATE INDEX address_idx_fk_city_id ON address (city_id);

CREATE TABLE category (
  category_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  name VARCHAR(25) NOT NULL,
  last_update TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
);

CREATE TABLE city (
  city_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  city VARCHAR(50) NOT NULL,
  country_id SMALLINT UNSIGNED NOT NULL,
  last_update TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  CONSTRAINT fk_city_country FOREIGN KEY (country_id) REFERENCES country (country_id)
    ON DELETE NO ACTION ON UPDATE CASCADE
);
CREATE INDEX city_idx_fk_country_id ON city (country_id);

CREATE TABLE country (
  country_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  country VARCHAR(50) NOT NULL,
  last_update TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
);

CREATE TABLE customer (
  customer_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  store_id TINYINT UNSIGNED NOT NULL,
  first_name VARCHAR(45) NOT NULL,
  last_name VARCHAR(45) NOT NULL,
  email VARCHAR(50) DEFAULT NULL,
  address_id SMALLINT UNSIGNED NOT NULL,
  active TINYINT(1) NOT NULL DEFAULT 1,
  create_date TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  last_update TEXT DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  CONSTRAINT fk_customer_address FOREIGN KEY (address_id) REFERENCES address (address_id)
    ON DELETE NO ACTION ON UPDATE CASCADE,
  CONSTRAINT fk_customer_store FOREIGN KEY (store_id) REFERENCES store (store_id)
    ON DELETE NO ACTION ON UPDATE CASCADE
);
CREATE INDEX customer_idx_fk_store_id ON customer (store_id);
CREATE INDEX customer_idx_fk_address_id ON customer (address_id);
CREATE INDEX customer_idx_last_name ON customer (last_name);

CREATE TABLE film (
  film_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  title VARCHAR(128) NOT NULL,
  description TEXT DEFAULT NULL,
  release_year SMALLINT DEFAULT NULL,
  language_id TINYINT UNSIGNED NOT NULL,
  original_language_id TINYINT UNSIGNED DEFAULT NULL,
  rental_duration TINYINT UNSIGNED NOT NULL DEFAULT 3,
  rental_rate INTEGER NOT NULL DEFAULT 499,
  length SMALLINT UNSIGNED DEFAULT NULL,
  replacement_cost INTEGER NOT NULL DEFAULT 1999,
  rating VARCHAR(5) DEFAULT 'G' CHECK (rating IN ('G', 'PG', 'PG-13', 'R', 'NC-17')),
  special_features VARCHAR(60) DEFAULT NULL,
  last_update TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  CONSTRAINT fk_film_language FOREIGN KEY (language_id) REFERENCES language (language_id)
    ON DELETE NO ACTION ON UPDATE CASCADE,
  CONSTRAINT fk_film_language_original FOREIGN KEY (original_language_id) REFERENCES language (language_id)
    ON DELETE NO ACTION ON UPDATE CASCADE
);
CREATE INDEX film_idx_title ON film (title);
CREATE INDEX film_idx_fk_language_id ON film (language_id);
CREATE INDEX film_idx_fk_original_language_id ON film (original_language_id);

CREATE TABLE film_actor (
  actor_id SMALLINT UNSIGNED NOT NULL,
  film_id SMALLINT UNSIGNED NOT NULL,
  last_update TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  PRIMARY KEY (actor_id, film_id),
  CONSTRAINT fk_film_actor_actor FOREIGN KEY (actor_id) REFERENCES actor (actor_id)
    ON DELETE NO ACTION ON UPDATE CASCADE,
  CONSTRAINT fk_film_actor_film FOREIGN KEY (film_id) REFERENCES film (film_id) ON DELETE NO ACTION ON UPDATE CASCADE
);
CREATE INDEX film_actor_idx_fk_film_id ON film_actor (film_id);

CREATE TABLE film_category (
  film_id SMALLINT UNSIGNED NOT NULL,
  category_id TINYINT UNSIGNED NOT NULL,
  last_update TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  PRIMARY KEY (film_id, category_id),
  CONSTRAINT fk_film_category_film FOREIGN KEY (film_id) REFERENCES film (film_id)
    ON DELETE NO ACTION ON UPDATE CASCADE,
  CONSTRAINT fk_film_category_category FOREIGN KEY (category_id) REFERENCES category (category_id)
    ON DELETE NO ACTION ON UPDATE CASCADE
);
CREATE INDEX film_category_fk_film_category_category ON film_category (category_id);

CREATE TABLE film_text (
  film_id SMALLINT UNSIGNED NOT NULL,
  title VARCHAR(255) NOT NULL,
  description TEXT,
  PRIMARY KEY (film_id)
);

CREATE TABLE inventory (
  inventory_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  film_id SMALLINT UNSIGNED NOT NULL,
  store_id TINYINT UNSIGNED NOT NULL,
  last_update TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  CONSTRAINT fk_inventory_store FOREIGN KEY (store_id) REFERENCES store (store_id)
    ON DELETE NO ACTION ON UPDATE CASCADE,
  CONSTRAINT fk_inventory_film FOREIGN KEY (film_id) REFERENCES film (film_id) ON DELETE NO ACTION ON UPDATE CASCADE
);
CREATE INDEX inventory_idx_fk_film_id ON inventory (film_id);
CREATE INDEX inventory_idx_store_id_film_id ON inventory (store_id, film_id);

CREATE TABLE language (
  language_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  name CHAR(20) NOT NULL,
  last_update TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
);

CREATE TABLE payment (
  payment_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  customer_id SMALLINT UNSIGNED NOT NULL,
  staff_id TINYINT UNSIGNED NOT NULL,
  rental_id INT DEFAULT NULL,
  amount INTEGER NOT NULL,
  payment_date TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  last_update TEXT DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  CONSTRAINT fk_payment_rental FOREIGN KEY (rental_id) REFERENCES rental (rental_id)
    ON DELETE SET NULL ON UPDATE CASCADE,
  CONSTRAINT fk_payment_customer FOREIGN KEY (customer_id) REFERENCES customer (customer_id)
    ON DELETE NO ACTION ON UPDATE CASCADE,
  CONSTRAINT fk_payment_staff FOREIGN KEY (staff_id) REFERENCES staff (staff_id)
    ON DELETE NO ACTION ON UPDATE CASCADE
);
CREATE INDEX payment_idx_fk_staff_id ON payment (staff_id);
CREATE INDEX payment_idx_fk_customer_id ON payment (customer_id);
CREATE INDEX payment_fk_payment_rental ON payment (rental_id);

CREATE TABLE rental (
  rental_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  rental_date TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  inventory_id MEDIUMINT UNSIGNED NOT NULL,
  customer_id SMALLINT UNSIGNED NOT NULL,
  return_date TEXT DEFAULT NULL,
  staff_id TINYINT UNSIGNED NOT NULL,
  last_update TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  CONSTRAINT rental_date UNIQUE (rental_date, inventory_id, customer_id),
  CONSTRAINT fk_rental_staff FOREIGN KEY (staff_id) REFERENCES staff (staff_id)
    ON DELETE NO ACTION ON UPDATE CASCADE,
  CONSTRAINT fk_rental_inventory FOREIGN KEY (inventory_id) REFERENCES inventory (inventory_id)
    ON DELETE NO ACTION ON UPDATE CASCADE,
  CONSTRAINT fk_rental_customer FOREIGN KEY (customer_id) REFERENCES customer (customer_id)
    ON DELETE NO ACTION ON UPDATE CASCADE
);
CREATE INDEX rental_idx_fk_inventory_id ON rental (inventory_id);
CREATE INDEX rental_idx_fk_customer_id ON rental (customer_id);
CREATE INDEX rental_idx_fk_staff_id ON rental (staff_id);

CREATE TABLE staff (
  staff_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  first_name VARCHAR(45) NOT NULL,
  last_name VARCHAR(45) NOT NULL,
  address_id SMALLINT UNSIGNED NOT NULL,
  picture BLOB DEFAULT NULL,
  email VARCHAR(50) DEFAULT NULL,
  store_id TINYINT UNSIGNED NOT NULL,
  active TINYINT(1) NOT NULL DEFAULT 1,
  username VARCHAR(16) NOT NULL,
  password VARCHAR(40) DEFAULT NULL,
  last_update TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  CONSTRAINT fk_staff_store FOREIGN KEY (store_id) REFERENCES store (store_id) ON DELETE NO ACTION ON UPDATE CASCADE,
  CONSTRAINT fk_staff_address FOREIGN KEY (address_id) REFERENCES address (address_id)
    ON DELETE NO ACTION ON UPDATE CASCADE
);
CREATE INDEX staff_idx_fk_store_id ON staff (store_id);
CREATE INDEX staff_idx_fk_address_id ON staff (address_id);

CREATE TABLE store (
  store_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  manager_staff_id TINYINT UNSIGNED NOT NULL,
  address_id SMALLINT UNSIGNED NOT NULL,
  last_update TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  CONSTRAINT idx_unique_manager UNIQUE (manager_staff_id),
  CONSTRAINT fk_store_staff FOREIGN KEY (manager_staff_id) REFERENCES staff (staff_id)
    ON DELETE NO ACTION ON UPDATE CASCADE,
  CONSTRAINT fk_store_address FOREIGN KEY (address_id) REFERENCES address (address_id)
    ON DELETE NO ACTION ON UPDATE CASCADE
);
CREATE INDEX store_idx_fk_address_id ON store (address_id);

-- Not in Sakila: a gift voucher, known by the code that is printed on it.
CREATE TABLE voucher (
  code CHAR(12) NOT NULL,
  customer_id SMALLINT UNSIGNED DEFAULT NULL,
  amount INTEGER NOT NULL,
  valid_from TEXT NOT NULL,
  valid_until TEXT DEFAULT NULL,
  is_redeemed TINYINT(1) NOT NULL DEFAULT 0,
  last_update TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  PRIMARY KEY (code),
  CONSTRAINT fk_voucher_customer FOREIGN KEY (customer_id) REFERENCES customer (customer_id)
    ON DELETE NO ACTION ON UPDATE CASCADE
);
CREATE INDEX voucher_idx_fk_customer_id ON voucher (customer_id);

-- Not in Sakila: what happened to a rental, written by the counter and by the return slots of all shops.
CREATE TABLE rental_event (
  rental_event_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  rental_id INT NOT NULL,
  kind VARCHAR(9) NOT NULL CHECK (kind IN ('reserved', 'picked up', 'reminded', 'returned', 'damaged')),
  happened_at TEXT NOT NULL,
  detail TEXT DEFAULT NULL,
  CONSTRAINT fk_rental_event_rental FOREIGN KEY (rental_id) REFERENCES rental (rental_id)
    ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX rental_event_idx_fk_rental_id ON rental_event (rental_id);

-- Not in Sakila: a store on one day.
CREATE TABLE store_day (
  store_id TINYINT UNSIGNED NOT NULL,
  business_date TEXT NOT NULL,
  opened_at TEXT NOT NULL,
  closed_at TEXT DEFAULT NULL,
  cash INTEGER NOT NULL DEFAULT 0,
  remarks VARCHAR(200) DEFAULT NULL,
  PRIMARY KEY (store_id, business_date),
  CONSTRAINT fk_store_day_store FOREIGN KEY (store_id) REFERENCES store (store_id) ON DELETE NO ACTION ON UPDATE CASCADE
);

-- film_text holds a copy of the texts of films.
CREATE TRIGGER ins_film AFTER INSERT ON film FOR EACH ROW BEGIN
  INSERT INTO film_text (film_id, title, description) VALUES (NEW.film_id, NEW.title, NEW.description);
END;

CREATE TRIGGER upd_film AFTER UPDATE ON film FOR EACH ROW BEGIN
  UPDATE film_text SET title = NEW.title, description = NEW.description, film_id = NEW.film_id
  WHERE film_id = OLD.film_id;
END;

CREATE TRIGGER del_film AFTER DELETE ON film FOR EACH ROW BEGIN
  DELETE FROM film_text WHERE film_id = OLD.film_id;
END;

CREATE VIEW customer_list AS
SELECT cu.customer_id AS ID, cu.first_name || ' ' || cu.last_name AS name, a.address AS address,
  a.postal_code AS `zip code`, a.phone AS phone, city.city AS city, country.country AS country,
  CASE WHEN cu.active THEN 'active' ELSE '' END AS notes, cu.store_id AS SID
FROM customer AS cu JOIN address AS a ON cu.address_id = a.address_id JOIN city ON a.city_id = city.city_id
  JOIN country ON city.country_id = country.country_id;

CREATE VIEW film_list AS
SELECT film.film_id AS FID, film.title AS title, film.description AS description, category.name AS category,
  film.rental_rate AS price, film.length AS length, film.rating AS rating,
  GROUP_CONCAT(actor.first_name || ' ' || actor.last_name, ', '
    ORDER BY actor.last_name COLLATE NOCASE, actor.actor_id) AS actors
FROM film LEFT JOIN film_category ON film_category.film_id = film.film_id
  LEFT JOIN category ON category.category_id = film_category.category_id
  LEFT JOIN film_actor ON film.film_id = film_actor.film_id
  LEFT JOIN actor ON film_actor.actor_id = actor.actor_id
GROUP BY film.film_id, category.name;

CREATE VIEW nicer_but_slower_film_list AS
SELECT film.film_id AS FID, film.title AS title, film.description AS description, category.name AS category,
  film.rental_rate AS price, film.length AS length, film.rating AS rating,
  GROUP_CONCAT(UPPER(SUBSTR(actor.first_name, 1, 1)) || LOWER(SUBSTR(actor.first_name, 2)) || ' ' ||
    UPPER(SUBSTR(actor.last_name, 1, 1)) || LOWER(SUBSTR(actor.last_name, 2)), ', '
    ORDER BY actor.last_name COLLATE NOCASE, actor.actor_id) AS actors
FROM film LEFT JOIN film_category ON film_category.film_id = film.film_id
  LEFT JOIN category ON category.category_id = film_category.category_id
  LEFT JOIN film_actor ON film.film_id = film_actor.film_id
  LEFT JOIN actor ON film_actor.actor_id = actor.actor_id
GROUP BY film.film_id, category.name;

CREATE VIEW staff_list AS
SELECT s.staff_id AS ID, s.first_name || ' ' || s.last_name AS name, a.address AS address,
  a.postal_code AS `zip code`, a.phone AS phone, city.city AS city, country.country AS country, s.store_id AS SID
FROM staff AS s JOIN address AS a ON s.address_id = a.address_id JOIN city ON a.city_id = city.city_id
  JOIN country ON city.country_id = country.country_id;

CREATE VIEW sales_by_store AS
SELECT c.city || ',' || cy.country AS store, m.first_name || ' ' || m.last_name AS manager,
  SUM(p.amount) AS total_sales
FROM payment AS p
  INNER JOIN rental AS r ON p.rental_id = r.rental_id
  INNER JOIN inventory AS i ON r.inventory_id = i.inventory_id
  INNER JOIN store AS s ON i.store_id = s.store_id
  INNER JOIN address AS a ON s.address_id = a.address_id
  INNER JOIN city AS c ON a.city_id = c.city_id
  INNER JOIN country AS cy ON c.country_id = cy.country_id
  INNER JOIN staff AS m ON s.manager_staff_id = m.staff_id
GROUP BY s.store_id, c.city, cy.country, m.first_name, m.last_name
ORDER BY cy.country, c.city;

CREATE VIEW sales_by_film_category AS
SELECT c.name AS category, SUM(p.amount) AS total_sales
FROM payment AS p
  INNER JOIN rental AS r ON p.rental_id = r.rental_id
  INNER JOIN inventory AS i ON r.inventory_id = i.inventory_id
  INNER JOIN film AS f ON i.film_id = f.film_id
  INNER JOIN film_category AS fc ON f.film_id = fc.film_id
  INNER JOIN category AS c ON fc.category_id = c.category_id
GROUP BY c.name
ORDER BY total_sales DESC;

CREATE VIEW actor_info AS
SELECT actor_id, first_name, last_name, GROUP_CONCAT(name || ': ' || titles, '; ' ORDER BY name) AS film_info
FROM (
  SELECT a.actor_id, a.first_name, a.last_name, c.name, GROUP_CONCAT(f.title, ', ' ORDER BY f.title) AS titles
  FROM actor a
    LEFT JOIN film_actor fa ON a.actor_id = fa.actor_id
    LEFT JOIN film f ON fa.film_id = f.film_id
    LEFT JOIN film_category fc ON fa.film_id = fc.film_id
    LEFT JOIN category c ON fc.category_id = c.category_id
  GROUP BY a.actor_id, c.category_id
)
GROUP BY actor_id;

-- After the rows

CREATE TRIGGER customer_create_date AFTER INSERT ON customer FOR EACH ROW BEGIN
  UPDATE customer SET create_date = strftime('%Y-%m-%dT%H:%M:%fZ', 'now') WHERE customer_id = NEW.customer_id;
END;

CREATE TRIGGER payment_date AFTER INSERT ON payment FOR EACH ROW BEGIN
  UPDATE payment SET payment_date = strftime('%Y-%m-%dT%H:%M:%fZ', 'now') WHERE payment_id = NEW.payment_id;
END;

CREATE TRIGGER rental_date AFTER INSERT ON rental FOR EACH ROW BEGIN
  UPDATE rental SET rental_date = strftime('%Y-%m-%dT%H:%M:%fZ', 'now') WHERE rental_id = NEW.rental_id;
END;

-- What ON UPDATE CURRENT_TIMESTAMP does in mysql.sql.
CREATE TRIGGER actor_last_update AFTER UPDATE ON actor FOR EACH ROW WHEN NEW.last_update IS OLD.last_update BEGIN
  UPDATE actor SET last_update = strftime('%Y-%m-%dT%H:%M:%fZ', 'now') WHERE actor_id = NEW.actor_id;
END;
CREATE TRIGGER address_last_update AFTER UPDATE ON address FOR EACH ROW WHEN NEW.last_update IS OLD.last_update BEGIN
  UPDATE address SET last_update = strftime('%Y-%m-%dT%H:%M:%fZ', 'now') WHERE address_id = NEW.address_id;
END;
CREATE TRIGGER category_last_update AFTER UPDATE ON category FOR EACH ROW WHEN NEW.last_update IS OLD.last_update BEGIN
  UPDATE category SET last_update = strftime('%Y-%m-%dT%H:%M:%fZ', 'now') WHERE category_id = NEW.category_id;
END;
CREATE TRIGGER city_last_update AFTER UPDATE ON city FOR EACH ROW WHEN NEW.last_update IS OLD.last_update BEGIN
  UPDATE city SET last_update = strftime('%Y-%m-%dT%H:%M:%fZ', 'now') WHERE city_id = NEW.city_id;
END;
CREATE TRIGGER country_last_update AFTER UPDATE ON country FOR EACH ROW WHEN NEW.last_update IS OLD.last_update BEGIN
  UPDATE country SET last_update = strftime('%Y-%m-%dT%H:%M:%fZ', 'now') WHERE country_id = NEW.country_id;
END;
CREATE TRIGGER customer_last_update AFTER UPDATE ON customer FOR EACH ROW WHEN NEW.last_update IS OLD.last_update BEGIN
  UPDATE customer SET last_update = strftime('%Y-%m-%dT%H:%M:%fZ', 'now') WHERE customer_id = NEW.customer_id;
END;
CREATE TRIGGER film_last_update AFTER UPDATE ON film FOR EACH ROW WHEN NEW.last_update IS OLD.last_update BEGIN
  UPDATE film SET last_update = strftime('%Y-%m-%dT%H:%M:%fZ', 'now') WHERE film_id = NEW.film_id;
END;
CREATE TRIGGER film_actor_last_update AFTER UPDATE ON film_actor FOR EACH ROW WHEN NEW.last_update IS OLD.last_update BEGIN
  UPDATE film_actor SET last_update = strftime('%Y-%m-%dT%H:%M:%fZ', 'now') WHERE actor_id = NEW.actor_id AND film_id = NEW.film_id;
END;
CREATE TRIGGER film_category_last_update AFTER UPDATE ON film_category FOR EACH ROW WHEN NEW.last_update IS OLD.last_update BEGIN
  UPDATE film_category SET last_update = strftime('%Y-%m-%dT%H:%M:%fZ', 'now') WHERE film_id = NEW.film_id AND category_id = NEW.category_id;
END;
CREATE TRIGGER inventory_last_update AFTER UPDATE ON inventory FOR EACH ROW WHEN NEW.last_update IS OLD.last_update BEGIN
  UPDATE inventory SET last_update = strftime('%Y-%m-%dT%H:%M:%fZ', 'now') WHERE inventory_id = NEW.inventory_id;
END;
CREATE TRIGGER language_last_update AFTER UPDATE ON language FOR EACH ROW WHEN NEW.last_update IS OLD.last_update BEGIN
  UPDATE language SET last_update = strftime('%Y-%m-%dT%H:%M:%fZ', 'now') WHERE language_id = NEW.language_id;
END;
CREATE TRIGGER payment_last_update AFTER UPDATE ON payment FOR EACH ROW WHEN NEW.last_update IS OLD.last_update BEGIN
  UPDATE payment SET last_update = strftime('%Y-%m-%dT%H:%M:%fZ', 'now') WHERE payment_id = NEW.payment_id;
END;
CREATE TRIGGER rental_last_update AFTER UPDATE ON rental FOR EACH ROW WHEN NEW.last_update IS OLD.last_update BEGIN
  UPDATE rental SET last_update = strftime('%Y-%m-%dT%H:%M:%fZ', 'now') WHERE rental_id = NEW.rental_id;
END;
CREATE TRIGGER staff_last_update AFTER UPDATE ON staff FOR EACH ROW WHEN NEW.last_update IS OLD.last_update BEGIN
  UPDATE staff SET last_update = strftime('%Y-%m-%dT%H:%M:%fZ', 'now') WHERE staff_id = NEW.staff_id;
END;
CREATE TRIGGER store_last_update AFTER UPDATE ON store FOR EACH ROW WHEN NEW.last_update IS OLD.last_update BEGIN
  UPDATE store SET last_update = strftime('%Y-%m-%dT%H:%M:%fZ', 'now') WHERE store_id = NEW.store_id;
END;
CREATE TRIGGER voucher_last_update AFTER UPDATE ON voucher FOR EACH ROW WHEN NEW.last_update IS OLD.last_update BEGIN
  UPDATE voucher SET last_update = strftime('%Y-%m-%dT%H:%M:%fZ', 'now') WHERE code = NEW.code;
END;
