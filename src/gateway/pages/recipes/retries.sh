curl __URL__ \
  -H "Authorization: Bearer $__VARIABLE__" \
  -H 'Content-Type: application/json' \
  -H 'Idempotency-Key: order-1001' \
  --retry 5 \
  --data-raw __BODY__
