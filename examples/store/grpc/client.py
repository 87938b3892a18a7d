"""Calls the typed services of the store with what protoc has made of the proto files (docs/grpc.md).

usage: CLIENT_SECRET=<secret> client.py <address> <client id of a machine account>
"""

import os
import sys
import uuid

import grpc
from google.protobuf.field_mask_pb2 import FieldMask

from auth.v1 import auth_service_pb2 as auth
from auth.v1 import auth_service_pb2_grpc as auth_services
from google.rpc import error_details_pb2, status_pb2
from store.v1 import store_pb2 as store
from store.v1 import store_pb2_grpc as services

address, client_id = sys.argv[1:]
METADATA = []


def call(method, request):
    """Every call has a deadline, here of five seconds."""
    return method(request, timeout=5, metadata=METADATA)


def reason_of(error):
    """The code of a failure (docs/errors.md), out of its google.rpc.Status."""
    trailers = dict(error.trailing_metadata())
    status = status_pb2.Status.FromString(trailers["grpc-status-details-bin"])
    info = error_details_pb2.ErrorInfo()
    for detail in status.details:
        if detail.Unpack(info):
            return info.reason
    return None


with grpc.insecure_channel(address) as channel:
    # A token, which a program that runs for longer asks for again before it expires.
    request = auth.TokenRequest(client_id=client_id, client_secret=os.environ["CLIENT_SECRET"])
    token = call(auth_services.AuthServiceStub(channel).Token, request)
    print("token for:", token.expires_in)
    METADATA.append(("authorization", f"Bearer {token.access_token}"))

    products = services.ProductServiceStub(channel)

    # A page, with a filter, an order and a choice of fields.
    query = dict(
        filter=store.ProductFilter(price=[store.DecimalCondition(less_than="2.00")]),
        sort=[store.ProductSort(property=store.PRODUCT_SORT_PROPERTY_PRICE, descending=True)],
        read_mask=FieldMask(paths=["id", "name", "price"]),
    )
    page = call(products.ListProducts, store.ListProductsRequest(page_size=2, page_number=1, **query))
    print("page", page.page_number, "of", page.total_count, "products:", [p.price for p in page.products])

    # All further pages, by cursors.
    read = len(page.products)
    while page.has_next:
        page = call(products.ListProducts, store.ListProductsRequest(page_size=8, after=page.next_cursor, **query))
        read += len(page.products)
    print("read by cursors:", read)

    # The same rows as a stream.
    exported = 0
    for part in products.ExportProducts(
        store.ExportProductsRequest(**query), timeout=30, metadata=METADATA
    ):
        if part.HasField("rows"):
            exported += len(part.rows.products)
        elif part.HasField("end"):
            print("exported:", exported, part.end.count, part.end.truncated)

    # A new row. The retry gets the same answer, and makes no second row.
    sku = "PY-" + uuid.uuid4().hex[:8]
    request = store.CreateProductRequest(
        product=store.Product(name="Python Mug", sku=sku, category_id=16, price="12.50", is_active=True, barcode=2**62),
        idempotency_key=str(uuid.uuid4()),
    )
    created = call(products.CreateProduct, request)
    again = call(products.CreateProduct, request)
    print("created, replayed:", again.replayed, created.product == again.product)

    # A change of two fields: the weight is set, and the barcode, which the message leaves out, becomes null.
    changed = call(
        products.UpdateProduct,
        store.UpdateProductRequest(
            id=created.product.id,
            product=store.Product(weight_grams=300),
            update_mask=FieldMask(paths=["weight_grams", "barcode"]),
            row_version=created.product.row_version,
        ),
    ).product
    print("changed:", changed.price, changed.weight_grams, changed.HasField("barcode"))

    # The version of the row is another one now.
    try:
        call(
            products.DeleteProduct,
            store.DeleteProductRequest(id=changed.id, row_version=created.product.row_version),
        )
    except grpc.RpcError as error:
        print("stale:", error.code().name, reason_of(error))

    found = call(products.GetProduct, store.GetProductRequest(id=changed.id)).product
    call(products.DeleteProduct, store.DeleteProductRequest(id=found.id, row_version=found.row_version))
    try:
        call(products.GetProduct, store.GetProductRequest(id=found.id))
    except grpc.RpcError as error:
        print("deleted:", error.code().name, reason_of(error))
