# The image mariadb: its user has the number 999, and Debian's own settings do not listen to other machines.
FROM uniform-rest-stand-in
RUN printf '[mysqld]\nbind-address = 0.0.0.0\nskip-name-resolve\n' > /etc/mysql/mariadb.conf.d/99-image.cnf \
  && usermod --non-unique --uid 999 mysql && groupmod --non-unique --gid 999 mysql \
  && mkdir -p /docker-entrypoint-initdb.d /run/mysqld && chown mysql:mysql /run/mysqld /var/lib/mysql
COPY docker-entrypoint.sh healthcheck.sh /usr/local/bin/
VOLUME /var/lib/mysql
ENTRYPOINT ["docker-entrypoint.sh"]
CMD ["mariadbd"]
