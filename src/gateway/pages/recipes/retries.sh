curl __URL__ \
  -H "Authorization: Bearer $__VARIABLE__" \
  -H 'Content-Type: application/json' \
  -H 'Idempotency-Key: order-1001' \
  --fail-with-body --retry 5 --retry-connrefused --retry-max-time 60 \
  --data-raw __BODY__
